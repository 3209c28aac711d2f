// Jobs that this browser tab began. The service keeps them by their id; the list lives here.
import { API, json, send } from "./http";

export interface Job { kind: "audio" | "video"; model: string; queue_id: string; prompt: string; began: number; state: "working" | "done" | "failed"; progress: number; url?: string; type?: string; error?: string; download?: string }
export const jobs = $state<{ list: Job[] }>({ list: [] });

export async function begin(kind: "audio" | "video", body: Record<string, unknown>): Promise<void> {
  const reply = await json<{ model: string; queue_id: string; download_url?: string }>(`${API}/${kind}/queue`, { body });
  jobs.list.unshift({ kind, model: reply.model, queue_id: reply.queue_id, prompt: String(body.prompt ?? ""), began: Date.now(), state: "working", progress: 0, download: reply.download_url });
  void follow(jobs.list[0]);
}

async function follow(job: Job): Promise<void> {
  while (job.state === "working") {
    try {
      const response = await send(`${API}/${job.kind}/retrieve`, { body: { model: job.model, queue_id: job.queue_id } });
      const type = response.headers.get("content-type") ?? "";
      if (type.startsWith("application/json")) {
        const reply = (await response.json()) as { status: string; average_execution_time: number; execution_duration: number };
        job.progress = Math.min(0.97, reply.execution_duration / Math.max(1, reply.average_execution_time));
        if (reply.status === "COMPLETED" && job.download) { job.state = "done"; job.url = new URL(job.download, location.origin).pathname; job.progress = 1; return; }
      } else {
        job.url = URL.createObjectURL(await response.blob());
        job.type = type;
        job.state = "done";
        job.progress = 1;
        return;
      }
    } catch (error) {
      job.state = "failed";
      job.error = (error as Error).message;
      return;
    }
    await new Promise((done) => setTimeout(done, 2500));
  }
}

export async function complete(job: Job): Promise<void> {
  await json(`${API}/${job.kind}/complete`, { body: { model: job.model, queue_id: job.queue_id } });
  jobs.list = jobs.list.filter((it) => it !== job);
}
