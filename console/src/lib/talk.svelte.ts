// Conversations of the playground. They live as long as the page, in memory only: the service keeps
// no prompts, and neither does the browser.
import { API, send } from "./http";
import { count, usd } from "./format";
import type { Model } from "./models";
import { events } from "./sse";

export interface ToolCall { id: string; name: string; arguments: string; result: string }
export interface Turn { role: "user" | "assistant"; text: string; thought: string; calls: ToolCall[]; images: string[]; content?: unknown }
export interface Attachment { name: string; url: string; isImage: boolean }
interface Usage { prompt_tokens: number; completion_tokens: number }
type Body = Record<string, unknown> & { model: string; messages: unknown[] };

/** The settings beside the conversation, which both models of a comparison share. */
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
export class Talk {
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

  get told(): string {
    const { usage, cost, firstWordMs } = this;
    return [usage && `${count(usage.prompt_tokens)} in`, usage && `${count(usage.completion_tokens)} out`, firstWordMs !== null && `first word ${Math.round(firstWordMs)} ms`, cost !== null && usd(cost), `${usd(this.total)} so far`].filter(Boolean).join(" · ");
  }

  /** Whether the last message has no answer. */
  get isUnanswered(): boolean {
    return !this.abort && this.turns.at(-1)?.role === "user";
  }

  clear(): void {
    this.abort?.abort();
    this.turns = [];
    this.total = 0;
    this.usage = this.cost = this.problem = this.last = this.firstWordMs = null;
  }

  /** Asks for the last answer again. */
  async retry(settings: ChatSettings, model: Model | undefined): Promise<void> {
    if (this.abort) return;
    if (this.turns.at(-1)?.role === "assistant") this.turns.pop();
    await this.answer(settings, model);
  }

  /** Has the model answer a message, or the results of its tools. */
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
        if (this.firstWordMs === null && (delta?.content || delta?.reasoning_content)) this.firstWordMs = performance.now() - started;
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

  /** Settings that the model cannot take are left out: a comparison may be with one that can. */
  private body(settings: ChatSettings, model: Model | undefined): Body {
    const can = (name: string) => !!model?.model_spec.capabilities?.[name];
    const said = this.turns.flatMap<unknown>((turn) => {
      if (!turn.calls.length) return [{ role: turn.role, content: turn.content ?? turn.text }];
      const tool_calls = turn.calls.map((it) => ({ id: it.id, type: "function", function: { name: it.name, arguments: it.arguments } }));
      return [{ role: turn.role, content: turn.text || null, tool_calls }, ...turn.calls.map((it) => ({ role: "tool", tool_call_id: it.id, content: it.result }))];
    });
    const { system, temperature, maxTokens, effort, character, searchesWeb } = settings;
    const request: Body = { model: this.model, messages: [...(system.trim() ? [{ role: "system", content: system }] : []), ...said], stream: true, stream_options: { include_usage: true } };
    if (isGiven(temperature)) request.temperature = Number(temperature);
    if (isGiven(maxTokens)) request.max_completion_tokens = Number(maxTokens);
    if (effort && can("supportsReasoning")) request.reasoning_effort = effort;
    const tools = parsed(settings.tools, "Tools");
    if (tools && can("supportsFunctionCalling")) request.tools = tools;
    const schema = parsed(settings.schema, "The schema");
    if (schema && can("supportsResponseSchema")) request.response_format = { type: "json_schema", json_schema: { name: "answer", strict: true, schema } };
    const own = { ...(character ? { character_slug: character } : {}), ...(searchesWeb && can("supportsWebSearch") ? { enable_web_search: "on" } : {}) };
    if (Object.keys(own).length) request.service_parameters = own;
    return request;
  }
}

/** An emptied number field gives null. */
const isGiven = (value: unknown): boolean => value !== "" && value !== null && value !== undefined;

function parsed(text: string, name: string): unknown {
  if (!text.trim()) return undefined;
  try { return JSON.parse(text); } catch (error) { throw new Error(`${name} is no JSON: ${(error as Error).message}`); }
}

function price(used: Usage, model: Model | undefined): number {
  const pricing = model?.model_spec.pricing;
  return ((pricing?.input?.usd ?? 0) * used.prompt_tokens + (pricing?.output?.usd ?? 0) * used.completion_tokens) / 1e6;
}

/** Everything of the chat that outlasts a change of tab or page. */
class Desk {
  settings = new ChatSettings();
  left = new Talk();
  /** Answers the same messages where a second model is chosen. */
  right = new Talk();
  draft = $state("");
  attachments = $state<Attachment[]>([]);

  get talks(): Talk[] {
    return this.right.model ? [this.left, this.right] : [this.left];
  }

  clear(): void {
    this.left.clear();
    this.right.clear();
  }
}
export const desk = new Desk();

/** Forgets everything, for the next who signs in. */
export function forgetTalks(): void {
  desk.clear();
  desk.draft = "";
  desk.attachments = [];
  desk.left.model = desk.right.model = "";
  Object.assign(desk.settings, { system: "", temperature: "", maxTokens: "", effort: "", tools: "", schema: "", character: "", searchesWeb: false });
}
