// Conversations of the playground, in memory only, for as long as the page is open: neither the
// service nor the browser stores prompts.
import { API, send } from "./http";
import { count, usd } from "./format";
import type { Model } from "./models";
import { events } from "./sse";

export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
  result: string;
}
export interface Turn {
  role: "user" | "assistant";
  text: string;
  thought: string;
  calls: ToolCall[];
  images: string[];
  content?: unknown;
}
export interface Attachment {
  name: string;
  url: string;
  isImage: boolean;
}
interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
}
type Body = Record<string, unknown> & { model: string; messages: unknown[] };

/** Chat settings, shared by both models of a comparison. */
export class ChatSettings {
  system = $state("");
  temperature = $state("");
  maxTokens = $state("");
  effort = $state("");
  tools = $state("");
  schema = $state("");
  character = $state("");
  searchesWeb = $state(false);
}

/** One conversation with one model. */
export class Conversation {
  model = $state("");
  turns = $state<Turn[]>([]);
  usage = $state<Usage | null>(null);
  cost = $state<number | null>(null);
  total = $state(0);
  firstWordMs = $state<number | null>(null);
  problem = $state<unknown>(null);
  /** The body of the last call. */
  last = $state.raw<Body | null>(null);
  abort = $state.raw<AbortController | null>(null);

  get summary(): string {
    const { usage, cost, firstWordMs } = this;
    return [
      usage && `${count(usage.prompt_tokens)} in`,
      usage && `${count(usage.completion_tokens)} out`,
      firstWordMs !== null && `first token ${Math.round(firstWordMs)} ms`,
      cost !== null && usd(cost),
      `${usd(this.total)} so far`,
    ]
      .filter(Boolean)
      .join(" · ");
  }

  /** True if the last message has no answer. */
  get isUnanswered(): boolean {
    return !this.abort && this.turns.at(-1)?.role === "user";
  }

  clear(): void {
    this.abort?.abort();
    this.turns = [];
    this.total = 0;
    this.usage = this.cost = this.problem = this.last = this.firstWordMs = null;
  }

  /** Requests the last answer again. */
  async retry(settings: ChatSettings, model: Model | undefined): Promise<void> {
    if (this.abort) return;
    if (this.turns.at(-1)?.role === "assistant") this.turns.pop();
    await this.answer(settings, model);
  }

  /** Requests an answer to the last message or tool results. */
  async answer(settings: ChatSettings, model: Model | undefined): Promise<void> {
    this.problem = null;
    this.firstWordMs = this.cost = this.usage = null;
    const started = performance.now();
    const abort = (this.abort = new AbortController());
    try {
      const request = this.body(settings, model);
      this.last = request;
      const response = await send(`${API}/chat/completions`, { body: request, signal: abort.signal });
      this.turns.push({ role: "assistant", text: "", thought: "", calls: [], images: [] });
      const turn = this.turns[this.turns.length - 1];
      for await (const data of events(response)) {
        if (data === "[DONE]") break;
        const chunk = JSON.parse(data);
        if (chunk.error) throw new Error(chunk.error.message ?? chunk.error);
        const delta = chunk.choices?.[0]?.delta;
        if (this.firstWordMs === null && (delta?.content || delta?.reasoning_content))
          this.firstWordMs = performance.now() - started;
        if (delta?.content) turn.text += delta.content;
        if (delta?.reasoning_content) turn.thought += delta.reasoning_content;
        for (const it of delta?.tool_calls ?? []) {
          turn.calls[it.index] ??= { id: it.id ?? "", name: "", arguments: "", result: "" };
          turn.calls[it.index].name += it.function?.name ?? "";
          turn.calls[it.index].arguments += it.function?.arguments ?? "";
        }
        if (chunk.usage) this.usage = chunk.usage;
        if (chunk.cost) this.cost = chunk.cost.usd ?? 0;
      }
      if (this.cost === null && this.usage) this.cost = price(this.usage, model);
      this.total += this.cost ?? 0;
    } catch (error) {
      if ((error as Error).name !== "AbortError") this.problem = error;
    } finally {
      this.abort = null;
    }
  }

  /** Leaves out settings that the model does not support: the other model of a comparison may. */
  private body(settings: ChatSettings, model: Model | undefined): Body {
    const can = (name: string) => !!model?.model_spec.capabilities?.[name];
    const said = this.turns.flatMap<unknown>((turn) => {
      if (!turn.calls.length) return [{ role: turn.role, content: turn.content ?? turn.text }];
      const tool_calls = turn.calls.map((it) => ({
        id: it.id,
        type: "function",
        function: { name: it.name, arguments: it.arguments },
      }));
      return [
        { role: turn.role, content: turn.text || null, tool_calls },
        ...turn.calls.map((it) => ({ role: "tool", tool_call_id: it.id, content: it.result })),
      ];
    });
    const { system, temperature, maxTokens, effort, character, searchesWeb } = settings;
    const request: Body = {
      model: this.model,
      messages: [...(system.trim() ? [{ role: "system", content: system }] : []), ...said],
      stream: true,
      stream_options: { include_usage: true },
    };
    if (isGiven(temperature)) request.temperature = Number(temperature);
    if (isGiven(maxTokens)) request.max_completion_tokens = Number(maxTokens);
    if (effort && can("supportsReasoning")) request.reasoning_effort = effort;
    const tools = parsed(settings.tools, "Tools");
    if (tools && can("supportsFunctionCalling")) request.tools = tools;
    const schema = parsed(settings.schema, "JSON schema");
    if (schema && can("supportsResponseSchema"))
      request.response_format = { type: "json_schema", json_schema: { name: "answer", strict: true, schema } };
    const own = {
      ...(character ? { character_slug: character } : {}),
      ...(searchesWeb && can("supportsWebSearch") ? { enable_web_search: "on" } : {}),
    };
    if (Object.keys(own).length) request.service_parameters = own;
    return request;
  }
}

/** A cleared number field has the value null. */
const isGiven = (value: unknown): boolean => value !== "" && value !== null && value !== undefined;

function parsed(text: string, name: string): unknown {
  if (!text.trim()) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not valid JSON: ${(error as Error).message}`);
  }
}

function price(used: Usage, model: Model | undefined): number {
  const pricing = model?.model_spec.pricing;
  return ((pricing?.input?.usd ?? 0) * used.prompt_tokens + (pricing?.output?.usd ?? 0) * used.completion_tokens) / 1e6;
}

/** Chat state that survives a change of tab or page. */
class ChatState {
  settings = new ChatSettings();
  left = new Conversation();
  /** Answers the same messages if a second model is selected. */
  right = new Conversation();
  draft = $state("");
  attachments = $state<Attachment[]>([]);

  get conversations(): Conversation[] {
    return this.right.model ? [this.left, this.right] : [this.left];
  }

  clear(): void {
    this.left.clear();
    this.right.clear();
  }
}
export const chatState = new ChatState();

/** Clears everything on sign-out. */
export function forgetConversations(): void {
  chatState.clear();
  chatState.draft = "";
  chatState.attachments = [];
  chatState.left.model = chatState.right.model = "";
  Object.assign(chatState.settings, {
    system: "",
    temperature: "",
    maxTokens: "",
    effort: "",
    tools: "",
    schema: "",
    character: "",
    searchesWeb: false,
  });
}
