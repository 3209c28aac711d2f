// Runs one action at a time, and keeps its error or success message.
import { untrack } from "svelte";

export class Action {
  busy = $state("");
  problem = $state<unknown>(null);
  note = $state("");

  /** Runs an action; its result is shown as the success message. */
  async run(label: string, work: () => Promise<string | void>): Promise<void> {
    // Reading `busy` is not tracked: otherwise an effect that starts an action would start it again when it ends.
    if (untrack(() => this.busy)) return;
    this.busy = label;
    this.problem = null;
    this.note = "";
    try {
      this.note = (await work()) ?? "";
    } catch (error) {
      this.problem = error;
    } finally {
      this.busy = "";
    }
  }
}
