// Tests sign-in and top-up with browser wallets, which the page sees only through EIP-6963 and the
// Wallet Standard.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  createKeyPairFromBytes,
  getAddressFromPublicKey,
  getTransactionDecoder,
  getTransactionEncoder,
  partiallySignTransaction,
  signBytes,
} from "@solana/kit";
import { privateKeyToAccount } from "viem/accounts";
import { launch, open, shot } from "../console/browser.mjs";

const { CONSOLE_URL: url, WALLET_KEY, SOLANA_KEY } = process.env;
const account = privateKeyToAccount(WALLET_KEY);
const keys = await createKeyPairFromBytes(Buffer.from(SOLANA_KEY, "hex"));
const address = await getAddressFromPublicKey(keys.publicKey);
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

/** The responses of an EVM wallet extension. */
async function evmAnswers({ method, params }) {
  switch (method) {
    case "eth_requestAccounts":
      return [account.address];
    case "wallet_switchEthereumChain":
      return null;
    case "personal_sign":
      return account.signMessage({ message: { raw: params[0] } });
    case "eth_signTypedData_v4": {
      const { domain, types, primaryType, message } = JSON.parse(params[1]);
      delete types.EIP712Domain;
      return account.signTypedData({ domain, types, primaryType, message });
    }
    default:
      throw new Error(`the wallet knows no ${method}`);
  }
}

/** The functions of a Solana wallet extension; bytes are passed as lists of numbers. */
async function solanaAnswers(what, bytes) {
  const given = Uint8Array.from(bytes);
  switch (what) {
    case "address":
      return address;
    case "message":
      return [...(await signBytes(keys.privateKey, given))];
    case "transaction": {
      const signed = await partiallySignTransaction([keys], getTransactionDecoder().decode(given));
      return [...getTransactionEncoder().encode(signed)];
    }
    default:
      throw new Error(`the wallet knows no ${what}`);
  }
}

function announceEvm() {
  const provider = { request: (call) => globalThis.evmAnswers(call) };
  const info = { uuid: "6f0ec0de-0000-4000-8000-000000000001", name: "Test wallet", icon: "", rdns: "test" };
  const show = () =>
    dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
  addEventListener("eip6963:requestProvider", show);
  show();
}

function announceSolana() {
  const ICON = "data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=";
  const ask = async (what, bytes = []) => globalThis.solanaAnswers(what, [...bytes]);
  const features = {
    "standard:connect": {
      version: "1.0.0",
      connect: async () => ({ accounts: [{ address: await ask("address"), chains: ["solana:mainnet"] }] }),
    },
    "solana:signMessage": {
      version: "1.0.0",
      signMessage: async ({ message }) => [{ signature: Uint8Array.from(await ask("message", message)) }],
    },
    "solana:signTransaction": {
      version: "1.0.0",
      supportedTransactionVersions: ["legacy", 0],
      signTransaction: async ({ transaction, chain }) => {
        if (chain !== "solana:mainnet") throw new Error(`the wallet is not on ${chain}`);
        return [{ signedTransaction: Uint8Array.from(await ask("transaction", transaction)) }];
      },
    },
  };
  const wallet = {
    version: "1.0.0",
    name: "Sol wallet",
    icon: ICON,
    chains: ["solana:mainnet"],
    features,
    accounts: [],
  };
  const register = ({ register: add }) => add(wallet);
  dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
  addEventListener("wallet-standard:app-ready", (event) => register(event.detail));
}

async function opened() {
  const { context, page, faults } = await open(browser, url);
  await context.exposeFunction("evmAnswers", evmAnswers);
  await context.exposeFunction("solanaAnswers", solanaAnswers);
  await context.addInitScript(announceEvm);
  await context.addInitScript(announceSolana);
  await page.goto(`${url}/`);
  return { context, page, faults };
}

const CHAINS = [
  { name: "Test wallet", chain: "Base", amount: "7" },
  { name: "Sol wallet", chain: "Solana", amount: "6.25" },
];

for (const { name, chain, amount } of CHAINS) {
  test(`a wallet on ${chain} signs in, pays, and sees its balance rise`, async () => {
    const { context, page, faults } = await opened();
    await page.getByRole("button", { name: `Sign in with ${name}` }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByTestId("balance").getByText("$0.00").waitFor();

    const pages = page.getByRole("navigation", { name: "Pages" });
    await pages.getByRole("link", { name: "Top up" }).click();
    await page.getByLabel("Amount in USD").fill(amount);
    const shown = `$${Number(amount).toFixed(2)}`;
    await page.getByRole("button", { name: `Pay ${shown} with ${name} on ${chain}` }).click();
    await page.getByTestId("paid").getByText(`${shown} received.`).waitFor();
    await shot(page, `top-up-${chain.toLowerCase()}`);
    await pages.getByRole("link", { name: "Overview" }).click();
    await page.getByTestId("balance").getByText(shown).waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  });
}

test("too little is refused before the wallet is asked to sign", async () => {
  const { context, page } = await opened();
  await page.getByRole("button", { name: "Sign in with Sol wallet" }).click();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Top up" }).click();
  await page.getByLabel("Amount in USD").fill("1");
  await page.getByRole("button", { name: /with Sol wallet/ }).click();
  await page.getByRole("alert").getByText("The minimum is $5.00.").waitFor();
  await context.close();
});
