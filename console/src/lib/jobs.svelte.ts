// Music and video jobs of the signed-in account, as the service lists them. Only this tab knows their
// prompts: the service does not store them.
import type { ApiSchema } from "./api-types";
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
  /** A link to the result, if the service returns one instead of the bytes. */
  link?: string;
  /** The URL that the result plays from, once it is opened. */
  url?: string;
  error?: string;
}

const LOOK_MS = 2000;
export const jobs = $state<{ list: Job[]; isLoaded: boolean }>({ list: [], isLoaded: false });
const prompts = new Map<string, string>();
export const isOpen = (job: Job): boolean => ["QUEUED", "RUNNING", "UNKNOWN"].includes(job.state);

export async function load(): Promise<void> {
  const { data } = await json<{ data: (Job & { url: string | null })[] }>("/console/jobs");
  const known = new Map(jobs.list.map((it) => [it.queueId, it]));
  jobs.list = data.map((it) => ({
    ...it,
    link: it.url ?? undefined,
    prompt: prompts.get(it.queueId),
    url: known.get(it.queueId)?.url,
    progress: known.get(it.queueId)?.progress,
    error: known.get(it.queueId)?.error,
  }));
  jobs.isLoaded = true;
}

export async function begin(kind: Kind, body: Record<string, unknown>): Promise<void> {
  const reply = await json<ApiSchema<"AudioQueued"> | ApiSchema<"VideoQueued">>(`${API}/${kind}/queue`, { body });
  prompts.set(reply.queue_id, String(body.prompt ?? ""));
  await load();
}

const call = (job: Job, what: string) =>
  send(`${API}/${job.kind}/${what}`, { body: { model: job.model, queue_id: job.queueId } });

/** Updates the progress of an open job, and loads its result when ready. */
export async function look(job: Job): Promise<void> {
  if (job.link) {
    job.url = job.link;
    return;
  }
  try {
    const response = await call(job, "retrieve");
    if ((response.headers.get("content-type") ?? "").startsWith("application/json")) {
      const reply = (await response.json()) as ApiSchema<"InProgress">;
      if (reply.status === "COMPLETED") return await showLinked(job.queueId);
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

/** Shows a result by its link, which is in the list of jobs. */
async function showLinked(queueId: string): Promise<void> {
  await load();
  const job = jobs.list.find((it) => it.queueId === queueId);
  if (!job) return;
  if (job.link) job.url = job.link;
  else job.error = "The result was deleted.";
}

/** Polls the open jobs until the returned function is called. */
export function follow(): () => void {
  let isGone = false;
  const turn = async () => {
    for (const job of jobs.list) {
      if (isGone) return;
      if (isOpen(job)) await look(job);
    }
    if (!isGone) setTimeout(turn, LOOK_MS);
  };
  void load()
    .then(turn)
    .catch(() => undefined);
  return () => {
    isGone = true;
  };
}

/** Deletes the result. */
export async function complete(job: Job): Promise<void> {
  await call(job, "complete");
  if (job.url?.startsWith("blob:")) URL.revokeObjectURL(job.url);
  job.url = job.link = undefined;
  job.hasResult = false;
}
