// Tests sign-in of funded wallets with several libraries, and spending their balance.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createSignableMessage, getBase58Decoder } from "@solana/kit";
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { createSIWxPayload, encodeSIWxHeader, wrapFetchWithSIWx } from "@x402/extensions/sign-in-with-x";
import { Wallet } from "ethers";
import { SiweMessage } from "siwe";
import { createPublicClient, http } from "viem";
import { base } from "viem/chains";
import { createSiweMessage, generateSiweNonce } from "viem/siwe";
import { api, chat, evmAccount, solanaSigner, withSignIn } from "./payers.mjs";

const { host, origin } = new URL(api);

const answers = async (response) => {
  assert.equal(response.status, 200, await response.clone().text());
  assert.ok(Number(response.headers.get("X-Balance-Remaining")) < 5);
  const { choices } = await response.json();
  assert.equal(typeof choices[0].message.content, "string");
};

test("@x402/extensions signs the challenge of a 402 with a key on Base", async () => {
  await answers(await wrapFetchWithSIWx(fetch, evmAccount)(`${api}/chat/completions`, chat));
});

test("@x402/extensions signs the challenge of a 402 with a key on Solana", async () => {
  // The library's fetch wrapper signs for the first chain only, so this combines the parts itself.
  const url = `${api}/chat/completions`;
  const required = decodePaymentRequiredHeader((await fetch(url, chat)).headers.get("PAYMENT-REQUIRED"));
  const { info, supportedChains } = required.extensions["sign-in-with-x"];
  const chain = supportedChains.find(({ type }) => type === "ed25519");
  const payload = await createSIWxPayload({ ...info, ...chain }, solanaSigner, url);
  const headers = { ...chat.headers, "SIGN-IN-WITH-X": encodeSIWxHeader(payload) };
  await answers(await fetch(url, { ...chat, headers }));
});

test("siwe and ethers sign in once, and not twice with the same message", async () => {
  const wallet = new Wallet(process.env.EVM_KEY);
  const message = new SiweMessage({
    domain: host,
    address: wallet.address,
    uri: origin,
    version: "1",
    chainId: 8453,
    issuedAt: new Date().toISOString(),
  }).prepareMessage();
  const signature = await wallet.signMessage(message);
  const request = withSignIn(chat, { address: wallet.address, message, signature, chainId: 8453 });
  await answers(await fetch(`${api}/chat/completions`, request));
  const again = await fetch(`${api}/chat/completions`, request);
  assert.equal(again.status, 401);
  assert.equal((await again.json()).code, "X402_SIGN_IN_NONCE_REUSED");
});

test("viem signs in and calls the JSON-RPC proxy", async () => {
  const fetchFn = async (url, init) => {
    const message = createSiweMessage({
      address: evmAccount.address,
      chainId: 8453,
      domain: host,
      nonce: generateSiweNonce(),
      uri: origin,
      version: "1",
    });
    const signature = await evmAccount.signMessage({ message });
    const signIn = { address: evmAccount.address, message, signature, chainId: "eip155:8453" };
    return fetch(url, withSignIn({ ...init, headers: Object.fromEntries(new Headers(init.headers)) }, signIn));
  };
  const transport = http(`${api}/crypto/rpc/base-mainnet`, { fetchFn });
  const client = createPublicClient({ chain: base, transport });
  assert.equal(await client.getChainId(), 8453);
});

test("@solana/kit signs in with the message itself", async () => {
  const issued = new Date().toISOString();
  const message = [
    `${host} wants you to sign in with your Solana account:`,
    solanaSigner.address,
    "",
    "Sign in to the service",
    "",
    `URI: ${origin}`,
    "Version: 1",
    "Chain ID: 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    `Nonce: ${generateSiweNonce()}`,
    `Issued At: ${issued}`,
  ].join("\n");
  const [signatures] = await solanaSigner.signMessages([createSignableMessage(message)]);
  const signIn = {
    address: solanaSigner.address,
    message,
    signature: getBase58Decoder().decode(signatures[solanaSigner.address]),
    chainId: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    type: "ed25519",
  };
  await answers(await fetch(`${api}/chat/completions`, withSignIn(chat, signIn)));
});

test("a wallet makes itself an API key", async () => {
  const path = `${api}/api_keys/generate_web3_key`;
  const { token } = (await (await fetch(path)).json()).data;
  const signature = await evmAccount.signMessage({ message: token });
  const body = JSON.stringify({ address: evmAccount.address, signature, token, apiKeyType: "INFERENCE" });
  const made = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(made.status, 200, await made.clone().text());
  const { apiKey } = (await made.json()).data;
  const request = { ...chat, headers: { ...chat.headers, authorization: `Bearer ${apiKey}` } };
  await answers(await fetch(`${api}/chat/completions`, request));
});
