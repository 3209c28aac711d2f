// Tests the console in a real browser, from the first sign-in link to keys, chats and costs. The order
// matters, because later tests see the charges of earlier ones; imported groups are called at their position.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { accessible, launch, open, shot, signIn } from "./browser.mjs";
import { testDocumentation } from "./documentation.mjs";
import { testEveryPage } from "./every_page.mjs";
import { testOperatorPages } from "./operator_pages.mjs";

const {
  CONSOLE_URL: url,
  CONSOLE_LINK: link,
  ADMIN_KEY: admin,
  INFERENCE_KEY: inference,
  OPERATOR_KEY: operator,
} = process.env;
const FIRST_PAGE_BYTES_MAX = 200_000;
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());
const openConsole = (options) => open(browser, url, options);

test("the first start's link leads to a key, a streamed chat and its cost", async () => {
  const { context, page, faults } = await openConsole();
  await page.goto(link);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  assert.ok(!page.url().includes("sign-in"), "the link must not stay in the address");
  await page.getByTestId("balance").getByText("$10.00").waitFor();

  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Description").fill("from the browser");
  await page.getByLabel("Limit in USD").fill("2.5");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = page.getByText(/^SERVICE_INFERENCE_KEY_\w{49}$/);
  await secret.waitFor();
  const key = await secret.textContent();
  await page.getByText(`export ANTHROPIC_AUTH_TOKEN=${key}`).waitFor();
  await page.getByLabel("Coding agent").selectOption("Codex");
  await page.getByText('model_provider = "tollgate"').waitFor();
  await page.getByText(`export TOLLGATE_KEY=${key}`).waitFor();
  await accessible(page);
  await shot(page, "key-made");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("cell", { name: "from the browser" }).waitFor();
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(`${url}/api/v1/models`, { headers });
  assert.equal(answer.status, 200);

  await page.getByRole("link", { name: "Playground" }).click();
  await page.getByLabel("Message").fill("Hi");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByTestId("talk").getByText("Hello from the upstream.").waitFor();
  await page
    .getByTestId("cost")
    .getByText(/20 in · .* so far/)
    .waitFor();
  await page.getByText("View code").click();
  await page.getByRole("tab", { name: "Python" }).click();
  await page.getByText("from openai import OpenAI").waitFor();
  await shot(page, "chat");

  await page.getByRole("link", { name: "Activity" }).click();
  await page.getByTestId("activity").getByText("small-text").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export CSV" }).click(),
  ]);
  const [names, ...lines] = (await readFile(await download.path(), "utf8")).trimEnd().split(/\r?\n/);
  assert.match(names, /timestamp.*sku.*amount/i);
  assert.equal(lines.length, 3, "what went in, what of it was known, and what came out");
  await page.getByRole("link", { name: "Overview" }).click();
  await page.waitForFunction(() => {
    const spent = document.querySelector('[data-testid="spent"]')?.textContent ?? "";
    return Number(spent.replace(/[^0-9.]/g, "")) > 0;
  });
  const chart = page.locator("figure", { hasText: "Requests per day" }).locator("figcaption");
  assert.match(await chart.textContent(), /requests 1$/, "the chart's last day");

  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
  assert.ok(!kept.includes("KEY_") && !kept.includes("tollgate_session"), kept);
  const [cookie] = (await context.cookies()).filter((it) => it.name === "tollgate_session");
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.sameSite, "Strict");
  assert.deepEqual(faults, []);
  await context.close();
});

test("the link works once", async () => {
  const { context, page } = await openConsole();
  await page.goto(link);
  await page.getByRole("alert").getByText("used or is too old").waitFor();
  await context.close();
});

test("a stream can be stopped", async () => {
  const { context, page } = await openConsole();
  await signIn(page, url, admin);
  await page.goto(`${url}/#/playground`);
  await page.getByLabel("Message").fill("slow");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await context.close();
});

test("an INFERENCE key sees no keys, no bills and no operator's pages", async () => {
  const { context, page } = await openConsole();
  await signIn(page, url, inference);
  const names = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
  for (const name of ["API keys", "Activity", "Operator"]) assert.ok(!names.includes(name), names.join());
  await context.close();
});

test("an ADMIN key of the account default sees no operator's pages", async () => {
  const { context, page } = await openConsole();
  await signIn(page, url, admin);
  const names = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
  assert.ok(names.includes("API keys") && !names.includes("Operator"), names.join());
  await context.close();
});

testOperatorPages(openConsole);

test("requests are filtered by the service, and each shows its lines", async () => {
  const { context, page, faults } = await openConsole();
  await signIn(page, url, admin);
  const ask = async (model) => {
    const headers = { authorization: `Bearer ${inference}`, "content-type": "application/json" };
    const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] });
    return fetch(`${url}/api/v1/chat/completions`, { method: "POST", headers, body });
  };
  assert.equal((await ask("large-text")).status, 200);
  assert.equal((await ask("nothing-like-it")).status, 404);
  await page.goto(`${url}/#/activity`);
  const table = page.getByTestId("activity");
  await table.getByText("large-text").first().waitFor();
  const [request] = await Promise.all([
    page.waitForRequest(/console\/activity\?.*model=large-text/),
    page.getByLabel("Model").selectOption("large-text"),
  ]);
  assert.ok(request.url().includes("size=50"));
  await page.getByTestId("found").getByText("1 request.").waitFor();
  await table.getByRole("button", { name: "Details" }).click();
  await table.getByText(/large-text-llm-output-mtoken/).waitFor();
  await accessible(page);
  await shot(page, "activity-details");
  await page.getByLabel("Status").selectOption("error");
  await table.getByText("404").first().waitFor();
  await page.getByLabel("Status").selectOption("refunded");
  await page
    .getByTestId("found")
    .getByText(/^\d+ requests?\.$/)
    .waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test("each session shows its requests, tokens and cost", async () => {
  const { context, page, faults } = await openConsole();
  await signIn(page, url, admin);
  const ask = async (session) => {
    const headers = { authorization: `Bearer ${inference}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: "small-text", messages: [{ role: "user", content: "Hi" }] });
    const sent = { method: "POST", headers: { ...headers, ...session }, body };
    assert.equal((await fetch(`${url}/api/v1/chat/completions`, sent)).status, 200);
  };
  // The second header is that of a coding agent. A session without a name is in no row.
  for (const session of [{ "x-service-session": "one" }, { "session-id": "two" }, { "session-id": "two" }, {}]) {
    await ask(session);
  }
  await page.goto(`${url}/#/activity`);
  const table = page.getByTestId("sessions");
  await table.getByRole("row").nth(2).waitFor();
  const rows = [];
  for (const row of (await table.getByRole("row").all()).slice(1)) {
    const [id, requests, input, , output, , , cost] = await row.getByRole("cell").allTextContents();
    assert.match(id, /^[0-9a-f]{16}$/);
    assert.ok(Number(cost.replace(/[^0-9.]/g, "")) > 0, cost);
    rows.push([id, Number(requests), Number(input), Number(output)]);
  }
  const headers = { authorization: `Bearer ${admin}` };
  const asked = await fetch(`${url}/api/v1/billing/usage-analytics?groupBy=session`, { headers });
  const { bySession } = await asked.json();
  const told = bySession.map((it) => [it.sessionId, it.requests, it.inputTokens, it.outputTokens]);
  assert.deepEqual(rows.sort(), told.sort());
  assert.deepEqual(rows.map((it) => it[1]).sort(), [1, 2]);
  await accessible(page);
  await shot(page, "activity-sessions");
  assert.deepEqual(faults, []);
  await context.close();
});

test("an INFERENCE key sees what is left of its own limit", async () => {
  const made = await fetch(`${url}/api/v1/api_keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
    body: JSON.stringify({
      apiKeyType: "INFERENCE",
      description: "limited",
      consumptionLimit: { usd: 2.5 },
      limitPeriod: "MONTH",
    }),
  });
  const { data } = await made.json();
  const { context, page, faults } = await openConsole();
  await signIn(page, url, data.apiKey);
  await page.getByTestId("key-left").getByText("$2.50").waitFor();
  await page.getByText(/of \$2\.50 per month/).waitFor();
  await accessible(page);
  await shot(page, "inference-overview");
  assert.deepEqual(faults, []);
  await context.close();
});

test("where nobody has DIEM and no chain is served, neither is shown", async () => {
  const { context, page } = await openConsole();
  await signIn(page, url, admin);
  await page.getByTestId("balance").waitFor();
  assert.equal(await page.getByText("DIEM").count(), 0);
  assert.equal(await page.getByRole("link", { name: "RPC" }).count(), 0);
  await page.goto(`${url}/#/keys`);
  await page.getByRole("button", { name: "New key" }).click();
  assert.equal(await page.getByLabel("Limit in DIEM").count(), 0);
  await context.close();
});

test("an operator brings a character in", async () => {
  const { context, page, faults } = await openConsole();
  await signIn(page, url, operator);
  await page.goto(`${url}/#/characters`);
  const data = {
    name: "Bosun Wren",
    description: "Keeps a small harbour.",
    personality: "",
    scenario: "",
    first_mes: "Ahoy.",
    mes_example: "",
  };
  const card = { spec: "chara_card_v2", spec_version: "2.0", data };
  const file = { name: "wren.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(card)) };
  await page.getByLabel("Character cards").setInputFiles(file);
  await page.getByRole("button", { name: "Import" }).click();
  await page.getByRole("status").getByText("Imported: Bosun Wren").waitFor();
  await page.getByLabel("Search").fill("wren");
  await page.getByRole("heading", { name: "Bosun Wren" }).waitFor();
  await accessible(page);
  assert.deepEqual(faults, []);
  await context.close();
});

test("a file that is no card is refused and changes nothing", async () => {
  const { context, page } = await openConsole();
  await signIn(page, url, operator);
  await page.goto(`${url}/#/characters`);
  const cards = page.locator("article");
  await cards.first().waitFor();
  const before = await cards.count();
  const none = { name: "none.json", mimeType: "application/json", buffer: Buffer.from("{}") };
  await page.getByLabel("Character cards").setInputFiles(none);
  await page.getByRole("button", { name: "Import" }).click();
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByRole("status").count(), 0);
  assert.equal(await cards.count(), before);
  await context.close();
});

test("whoever signed out is out, also with a copy of the cookie", async () => {
  const { context, page } = await openConsole();
  await signIn(page, url, admin);
  const cookies = await context.cookies();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").waitFor();
  await context.addCookies(cookies);
  await page.goto(`${url}/`);
  await page.getByLabel("API key").waitFor();
  await context.close();
});

test("errors are counted by day beside requests, and those of late are listed", async () => {
  const { context, page, faults } = await openConsole();
  await signIn(page, url, admin);
  const tile = page.getByTestId("errors");
  const errors = page.locator("figure", { hasText: "Errors per day" }).locator("figcaption");
  await errors.waitFor({ state: "attached" });
  const [before, refused, failed] = [Number(await tile.textContent()), ...(await counts())];
  async function counts() {
    const [, ...numbers] = (await errors.textContent()).match(/4xx (\d+), 5xx (\d+)$/);
    return numbers.map(Number);
  }
  const ask = async (model, content) => {
    const headers = { authorization: `Bearer ${inference}`, "content-type": "application/json" };
    const body = JSON.stringify({ model, messages: [{ role: "user", content }] });
    return (await fetch(`${url}/api/v1/chat/completions`, { method: "POST", headers, body })).status;
  };
  assert.equal(await ask("nothing-like-it", "Hi"), 404);
  const status = await ask("out-of-reach", "Hi");
  assert.ok(500 <= status, `${status}`);
  await page.reload();
  await tile.getByText(String(before + 2)).waitFor();
  assert.deepEqual(await counts(), [refused + 1, failed + 1]);
  // Days before the service started have no count, which differs from zero.
  assert.match(await errors.textContent(), /: 4xx –, 5xx –;/);
  await page.getByRole("heading", { name: "Recent errors" }).waitFor();
  await page.getByText("Rate limits, remaining this minute").waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

testEveryPage(openConsole);

testDocumentation(openConsole);

test("the MCP servers are listed with their prices, and their tools on request", async () => {
  const { context, page, faults } = await openConsole();
  await signIn(page, url, inference);
  await page.goto(`${url}/#/mcp-servers`);
  await page.getByText(`claude mcp add --transport http tollgate ${url}/mcp`).waitFor();
  const weather = page.getByTestId("mcp-server").filter({ hasText: "Weather of cities" });
  await weather.getByText("$0.002 per successful call").waitFor();
  await weather.getByRole("button", { name: "List tools" }).click();
  await weather.getByText("The temperature of a city.").waitFor();
  await weather.getByText("Arguments").click();
  await weather.getByText('"city"').first().waitFor();
  await weather.getByText("Example").click();
  await weather.getByText('"server_label":"weather"').waitFor();
  const broken = page.getByTestId("mcp-server").filter({ hasText: "broken" });
  await broken.getByText("Free", { exact: true }).waitFor();
  assert.deepEqual(faults, []);
  // The browser reports the failed request too.
  await broken.getByRole("button", { name: "List tools" }).click();
  await broken.getByRole("alert").waitFor();
  await accessible(page);
  await shot(page, "mcp-servers");
  await context.close();
});

test("the first page is small", async () => {
  const { context, page } = await openConsole();
  await signIn(page, url, admin);
  const [first, loaded] = [await context.newPage(), []];
  first.on("response", (response) => loaded.push(response));
  await first.goto(`${url}/`);
  await first.locator(".u-over").first().waitFor();
  await first.waitForLoadState("networkidle");
  const sizes = await Promise.all(loaded.map(async (it) => [it.url(), gzipSync(await it.body()).length]));
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
  assert.ok(
    sizes.some(([name]) => name.endsWith("/assets/index.js")),
    "the pages were loaded",
  );
  assert.ok(bytes <= FIRST_PAGE_BYTES_MAX, `${bytes} bytes: ${sizes.join("; ")}`);
  await context.close();
});
