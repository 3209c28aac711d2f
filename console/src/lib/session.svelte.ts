// The current session. The session itself is a cookie that scripts cannot read; this module keeps
// the CSRF proof for it, in memory only.
import { json } from "./http";

export interface Session {
  signedIn: boolean;
  account?: string;
  keyType?: "ADMIN" | "INFERENCE" | "OPERATOR" | null;
  keyId?: string | null;
  last6Chars?: string | null;
  wallet?: string | null;
  isOperator?: boolean;
  expiresAt?: string;
  proof?: string;
  publicUrl: string;
  takesWallets: boolean;
  servesRpc?: boolean;
}

export const session = $state<{ now: Session | null; failed: string }>({ now: null, failed: "" });

export const isAdmin = (): boolean => session.now?.keyType === "ADMIN" || session.now?.keyType === "OPERATOR";

export async function probe(): Promise<void> {
  try {
    session.now = await json<Session>("/console/session");
    session.failed = "";
  } catch (error) {
    session.failed = String(error instanceof Error ? error.message : error);
  }
}

export async function signIn(
  entry: { key?: string; link?: string },
  headers: Record<string, string> = {},
): Promise<void> {
  session.now = await json<Session>("/console/session", { method: "POST", body: entry, headers });
}

export async function signOut(): Promise<void> {
  const { forgetConversations } = await import("./conversation.svelte");
  forgetConversations();
  session.now = await json<Session>("/console/session", { method: "DELETE" });
  location.hash = "#/";
}
