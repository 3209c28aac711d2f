// A wallet in the browser, of which the page sees only what EIP-6963 shows: signs in and tops up.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import { launch, open, shot } from "../console/browser.mjs";

const { CONSOLE_URL: url, WALLET_KEY } = process.env;
const account = privateKeyToAccount(WALLET_KEY);
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

/** What a wallet's extension would answer. */
async function answer({ method, params }) {
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

function announce() {
  const provider = { request: (call) => globalThis.walletAnswers(call) };
  const info = { uuid: "6f0ec0de-0000-4000-8000-000000000001", name: "Test wallet", icon: "", rdns: "test" };
  const show = () =>
    dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail: Object.freeze({ info, provider }) }));
  addEventListener("eip6963:requestProvider", show);
  show();
}

test("a wallet signs in, pays, and sees its balance rise", async () => {
  const { context, page, faults } = await open(browser, url);
  await context.exposeFunction("walletAnswers", answer);
  await context.addInitScript(announce);
  await page.goto(`${url}/`);
  await page.getByRole("button", { name: "Sign in with Test wallet" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByTestId("balance").getByText("$0.00").waitFor();

  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Top up" }).click();
  await page.getByLabel("Amount in USD").fill("7");
  await page.getByRole("button", { name: /Pay \$7.00 with Test wallet/ }).click();
  await page.getByTestId("paid").getByText("$7.00 arrived.").waitFor();
  await shot(page, "top-up");
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Overview" }).click();
  await page.getByTestId("balance").getByText("$7.00").waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});
