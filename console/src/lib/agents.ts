// The set-up of coding agents. The command `tollgate agents` and the documentation use the same file.

import agents from "../../../docs/agents.json";
import type { Snippet } from "./snippets";

export interface SlotValues {
  site: string;
  key: string;
  model: string;
}

export const AGENTS: { id: string; name: string }[] = agents;

/** One snippet for each step, named after the place that it belongs to. */
export function agentSteps(id: string, values: SlotValues): Snippet[] {
  const steps = agents.find((it) => it.id === id)?.steps ?? [];
  return steps.map((step) => ({
    name: step.into === "shell" ? "Shell" : step.into,
    text: step.lines
      .join("\n")
      .replaceAll("%SITE%", values.site)
      .replaceAll("%KEY%", values.key)
      .replaceAll("%MODEL%", values.model),
  }));
}
