// The payers that the runner funded, and a chat request for them.
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { privateKeyToAccount } from "viem/accounts";

export const api = process.env.API;
export const solanaRpc = process.env.SOLANA_RPC;
export const evmAccount = privateKeyToAccount(process.env.EVM_KEY);
export const solanaSigner = await createKeyPairSignerFromBytes(Buffer.from(process.env.SOLANA_KEY, "hex"));

export const chat = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "default", messages: [{ role: "user", content: "Say hello." }] }),
};

// A request with a sign-in in the message form.
export const withSignIn = (request, signIn) => ({
  ...request,
  headers: { ...request.headers, "SIGN-IN-WITH-X": Buffer.from(JSON.stringify(signIn)).toString("base64") },
});
