// The model catalogue, fetched once.
import { API, json } from "./http";
import { route } from "./route.svelte";

export interface Model {
  id: string;
  type: string;
  created?: number;
  context_length?: number;
  model_spec: {
    name?: string;
    description?: string;
    privacy: string;
    offline?: boolean;
    traits?: string[];
    deprecation?: { date: string; replacementModelId?: string };
    availableContextTokens?: number;
    maxCompletionTokens?: number;
    capabilities?: Record<string, any>;
    constraints?: Record<string, any>;
    pricing?: Record<string, any>;
    voices?: string[];
    supported_formats?: string[];
    [key: string]: any;
  };
}

let all: Promise<Model[]> | null = null;
export function models(): Promise<Model[]> {
  all ??= json<{ data: Model[] }>(`${API}/models?type=all`)
    .then((it) => it.data)
    .catch((error) => {
      all = null;
      throw error;
    });
  return all;
}

/** Clears the cache, because the catalogue may have changed. */
export function forget(): void {
  all = null;
}

export const ofType = async (...types: string[]): Promise<Model[]> =>
  (await models()).filter((it) => types.includes(it.type));
export const byDefault = (list: Model[]): string =>
  (list.find((it) => it.model_spec.traits?.includes("default")) ?? list[0])?.id ?? "";
/** The model named in the URL if the list has it, otherwise the default model. */
export const asked = (list: Model[]): string =>
  list.find((it) => it.id === route.query.get("model"))?.id ?? byDefault(list);
