// Music and videos of whoever is signed in, as the service lists them. What their prompts were only
// this tab knows: the service forgets them.
import { API, json, send } from "./http";

export type Kind = "audio" | "video";
export interface Job {
  kind: Kind;
  model: string;
  queueId: string;
  state: "QUEUED" | "RUNNING" | "UNKNOWN" | "COMPLETED" | "FAILED" | "REJECTED";
  queuedAt: string;
  doneAt: string | null;
  hasResult: boolean;
  prompt?: string;
  progress?: number;
  /** Where the result plays from, once somebody wants to hear or see it. */
  url?: string;
  error?: string;
}

const LOOK_MS = 2000;
export const jobs = $state<{ list: Job[]; isLoaded: boolean }>({ list: [], isLoaded: false });
const prompts = new Map<string, string>();
export const isOpen = (job: Job): boolean => ["QUEUED", "RUNNING", "UNKNOWN"].includes(job.state);

export async function load(): Promise<void> {
  const { data } = await json<{ data: Job[] }>("/console/jobs");
  const known = new Map(jobs.list.map((it) => [it.queueId, it]));
  jobs.list = data.map((it) => ({ ...it, prompt: prompts.get(it.queueId), url: known.get(it.queueId)?.url, progress: known.get(it.queueId)?.progress, error: known.get(it.queueId)?.error }));
  jobs.isLoaded = true;
}

export async function begin(kind: Kind, body: Record<string, unknown>): Promise<void> {
  const reply = await json<{ queue_id: string }>(`${API}/${kind}/queue`, { body });
  prompts.set(reply.queue_id, String(body.prompt ?? ""));
  await load();
}

const call = (job: Job, what: string) => send(`${API}/${job.kind}/${what}`, { body: { model: job.model, queue_id: job.queueId } });

/** How far an open job is; its result as soon as it has one. */
export async function look(job: Job): Promise<void> {
  try {
    const response = await call(job, "retrieve");
    if ((response.headers.get("content-type") ?? "").startsWith("application/json")) {
      const reply = (await response.json()) as { average_execution_time: number; execution_duration: number };
      job.progress = Math.min(0.97, reply.execution_duration / Math.max(1, reply.average_execution_time));
      return;
    }
    job.url = URL.createObjectURL(await response.blob());
    job.state = "COMPLETED";
    job.progress = 1;
  } catch (error) {
    job.error = (error as Error).message;
    job.state = job.state === "COMPLETED" ? "COMPLETED" : "FAILED";
  }
}

/** Follows the open jobs until the given function is called. */
export function follow(): () => void {
  let isGone = false;
  const turn = async () => {
    for (const job of jobs.list) {
      if (isGone) return;
      if (isOpen(job)) await look(job);
    }
    if (!isGone) setTimeout(turn, LOOK_MS);
  };
  void load().then(turn).catch(() => undefined);
  return () => { isGone = true; };
}

/** Deletes what was made. */
export async function complete(job: Job): Promise<void> {
  await call(job, "complete");
  if (job.url) URL.revokeObjectURL(job.url);
  job.url = undefined;
  job.hasResult = false;
}
