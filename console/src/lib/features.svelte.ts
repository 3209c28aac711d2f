// The server's OpenAPI document: pages show only what the server supports.
import { API } from "./http";

export interface OpenApi {
  info: { version: string; title: string; description: string };
  paths: Record<string, Record<string, any>>;
  components: { schemas: Record<string, any>; responses?: Record<string, any>; securitySchemes: Record<string, any> };
}

export const offer = $state<{ paths: Set<string>; loaded: boolean }>({ paths: new Set(), loaded: false });
let document_: OpenApi | null = null;

export async function openApi(): Promise<OpenApi> {
  if (!document_) {
    const response = await fetch(`${API}/openapi.json`);
    document_ = (await response.json()) as OpenApi;
    offer.paths = new Set(Object.keys(document_.paths));
    offer.loaded = true;
  }
  return document_;
}

export const has = (path: string): boolean => offer.paths.has(path);
