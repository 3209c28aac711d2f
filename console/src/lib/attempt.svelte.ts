// One thing at a time, with what went wrong or right beside it.
import { untrack } from "svelte";

export class Attempt {
  busy = $state("");
  problem = $state<unknown>(null);
  note = $state("");

  /** Does something; what it returns is said. */
  async run(label: string, work: () => Promise<string | void>): Promise<void> {
    // An effect that begins something must not begin it again when it ends.
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
