// Types of the replies of the API, from the published document. `npm run types` writes openapi.d.ts anew.
import type { components, paths } from "./openapi";

/** A schema of the document, by its name. */
export type ApiSchema<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** The JSON of a successful reply to a path of the document. */
export type ApiReply<
  Path extends keyof paths,
  Method extends keyof paths[Path] = "get" & keyof paths[Path],
> = paths[Path][Method] extends { responses: { 200: { content: { "application/json": infer Reply } } } }
  ? Reply
  : never;
