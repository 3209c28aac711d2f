// Requests to the service: same origin only, with the session's CSRF proof in a header.
import { session } from "./session.svelte";

export const API = "/api/v1";

export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly body: unknown,
  ) {
    super(message);
  }
}

export interface Options {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Sends a request; throws an error with the service's message unless it succeeds. */
export async function send(path: string, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  if (session.now?.proof) headers["x-console-proof"] = session.now.proof;
  let body: BodyInit | undefined;
  if (options.body instanceof FormData) {
    body = options.body;
  } else if (options.body !== undefined) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(options.body);
  }
  const method = options.method ?? (body === undefined ? "GET" : "POST");
  const response = await fetch(path, { method, headers, body, signal: options.signal, credentials: "same-origin" });
  if (response.ok) return response;
  const text = await response.text();
  let content: unknown = text;
  try {
    content = JSON.parse(text);
  } catch {
    // Text that is not JSON is shown unchanged.
  }
  if (response.status === 401 && session.now?.signedIn && !path.startsWith("/console/session")) {
    // The key may have been revoked meanwhile, so the session is loaded again.
    const { probe } = await import("./session.svelte");
    void probe();
  }
  throw new ApiError(errorMessage(content, response.status), response.status, content);
}

export async function json<T>(path: string, options: Options = {}): Promise<T> {
  return (await send(path, options)).json() as Promise<T>;
}

/** Performs an operator operation. */
export async function operate<T>(operation: string, fields: Record<string, unknown> = {}): Promise<T> {
  const reply = await json<Record<string, T>>("/console/operator", { body: { operation, ...fields } });
  return Object.values(reply)[0];
}

/** The message of an error response, with every issue that it lists. */
export function errorMessage(content: unknown, status: number): string {
  if (typeof content === "string") return content.slice(0, 300) || `The service returned status ${status}.`;
  const body = content as {
    error?: unknown;
    message?: string;
    issues?: { path: (string | number)[]; message: string }[];
  };
  const error = body?.error;
  let message =
    typeof error === "string"
      ? error
      : ((error as { message?: string })?.message ?? `The service returned status ${status}.`);
  if (body?.message) message = body.message;
  if (body?.issues?.length) {
    message += ": " + body.issues.map((it) => `${it.path.join(".") || "body"}: ${it.message}`).join("; ");
  }
  return message;
}
