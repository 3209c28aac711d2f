// Tests chain calls from the console: the response, its credits, and the code of the call.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, launch, open, shot, signIn } from "./browser.mjs";
import { runShown, shownCode } from "./recorder.mjs";

const { CONSOLE_URL: url, ADMIN_KEY: admin, INFERENCE_KEY: key } = process.env;
const ADDRESS = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

test("a call is sent, and its answer, credits and code are shown", async () => {
  const { context, page, faults } = await open(browser, url);
  await signIn(page, url, admin);
  await page.goto(`${url}/#/rpc`);
  const networks = page.getByLabel("Network").locator("option");
  await networks.first().waitFor({ state: "attached" });
  assert.deepEqual(await networks.allTextContents(), ["base-mainnet", "ethereum-mainnet"]);
  await page.getByLabel("Network").selectOption("base-mainnet");
  await page.getByLabel("Method").fill("eth_getBalance");
  await page.getByLabel("Params").fill(JSON.stringify([ADDRESS, "latest"]));
  const [request] = await Promise.all([
    page.waitForRequest(/\/crypto\/rpc\/base-mainnet$/),
    page.getByRole("button", { name: "Send" }).click(),
  ]);
  await page.getByText('"result": "0x1"').waitFor();
  await page.getByText(/^20 credits, \$0\.0\d+ · 20 credits so far$/).waitFor();
  const body = request.postDataJSON();
  assert.deepEqual(body, { jsonrpc: "2.0", id: 1, method: "eth_getBalance", params: [ADDRESS, "latest"] });
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("40 credits so far").waitFor();
  await accessible(page);
  await shot(page, "rpc");
  const programs = await runShown(await shownCode(page), { url, key });
  for (const [language, call] of Object.entries(programs)) {
    assert.deepEqual(call, { method: "POST", path: "/v1/crypto/rpc/base-mainnet", status: 200, sent: body }, language);
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test("params that are no JSON are told before anything is sent", async () => {
  const { context, page, faults } = await open(browser, url);
  await signIn(page, url, admin);
  await page.goto(`${url}/#/rpc`);
  await page.getByLabel("Params").fill("[latest]");
  let sent = 0;
  page.on("request", (request) => (sent += request.method() === "POST" ? 1 : 0));
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("alert").getByText("Params is not valid JSON").waitFor();
  assert.equal(sent, 0);
  assert.deepEqual(faults, []);
  await context.close();
});
