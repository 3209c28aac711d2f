// The console in a real browser: from the first start's link to a key, a streamed chat and its cost.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, launch, open, shot, signIn } from "./browser.mjs";

const { CONSOLE_URL: url, CONSOLE_LINK: link, ADMIN_KEY: admin, INFERENCE_KEY: inference } = process.env;
const PAGES = ["/", "/keys", "/playground", "/models", "/activity", "/characters", "/rpc", "/top-up", "/operator"];
const LOOKS = [
  { name: "desktop-light", colorScheme: "light", viewport: { width: 1280, height: 860 } },
  { name: "desktop-dark", colorScheme: "dark", viewport: { width: 1280, height: 860 } },
  { name: "phone-light", colorScheme: "light", viewport: { width: 360, height: 740 } },
  { name: "phone-dark", colorScheme: "dark", viewport: { width: 360, height: 740 } },
];
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

test("the first start's link leads to a key, a streamed chat and its cost", async () => {
  const { context, page, faults } = await open(browser, url);
  await page.goto(link);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  assert.ok(!page.url().includes("sign-in"), "the link must not stay in the address");
  await page.getByTestId("balance").getByText("$10.00").waitFor();

  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Description").fill("from the browser");
  await page.getByLabel("Limit in USD").fill("2.5");
  await page.getByRole("button", { name: "Create" }).click();
  const secret = page.getByText(/^SERVICE_INFERENCE_KEY_\w{49}$/);
  await secret.waitFor();
  const key = await secret.textContent();
  await shot(page, "key-made");
  await page.getByRole("button", { name: "I have it" }).click();
  await page.getByRole("cell", { name: "from the browser" }).waitFor();
  const answer = await fetch(`${url}/api/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(answer.status, 200);

  await page.getByRole("link", { name: "Playground" }).click();
  await page.getByLabel("Message").fill("Hi");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByTestId("talk").getByText("Hello from the upstream.").waitFor();
  await page.getByTestId("cost").getByText(/20 in · .* so far/).waitFor();
  await page.getByText("View code of this call").click();
  await page.getByRole("tab", { name: "Python" }).click();
  await page.getByText("from openai import OpenAI").waitFor();
  await shot(page, "chat");

  await page.getByRole("link", { name: "Activity" }).click();
  await page.getByTestId("activity").getByText("small-text").waitFor();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.waitForFunction(() => {
    const spent = document.querySelector('[data-testid="spent"]')?.textContent ?? "";
    return Number(spent.replace(/[^0-9.]/g, "")) > 0;
  });

  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
  assert.ok(!kept.includes("KEY_") && !kept.includes("tollgate_session"), kept);
  const [cookie] = (await context.cookies()).filter((it) => it.name === "tollgate_session");
  assert.equal(cookie.httpOnly, true);
  assert.equal(cookie.sameSite, "Strict");
  assert.deepEqual(faults, []);
  await context.close();
});

test("the link works once", async () => {
  const { context, page } = await open(browser, url);
  await page.goto(link);
  await page.getByRole("alert").getByText("used or is too old").waitFor();
  await context.close();
});

test("a stream can be stopped", async () => {
  const { context, page } = await open(browser, url);
  await signIn(page, url, admin);
  await page.goto(`${url}/#/playground`);
  await page.getByLabel("Message").fill("slow");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("button", { name: "Send" }).waitFor();
  await context.close();
});

test("an INFERENCE key sees no keys, no bills and no operator's pages", async () => {
  const { context, page } = await open(browser, url);
  await signIn(page, url, inference);
  const names = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
  for (const name of ["Keys", "Activity", "Operator"]) assert.ok(!names.includes(name), names.join());
  await context.close();
});

test("an operator freezes an account, gives a charge back, and finds both in the audit trail", async () => {
  const { context, page, faults } = await open(browser, url);
  page.on("dialog", (dialog) => dialog.accept());
  await signIn(page, url, admin);
  await page.goto(`${url}/#/operator`);
  await page.getByLabel("Name").fill("guest");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("status").getByText("guest is there").waitFor();
  const guest = page.getByTestId("accounts").getByRole("row", { name: /guest/ });
  await guest.getByRole("button", { name: "Freeze" }).click();
  await guest.getByText("frozen since").waitFor();
  await guest.getByRole("button", { name: "Unfreeze" }).click();
  await page.getByRole("status").getByText("guest can be used again").waitFor();

  for (const tab of ["Payments", "Providers", "Jobs", "Books"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.getByRole("heading", { level: 2 }).first().waitFor();
    await page.waitForLoadState("networkidle");
    await accessible(page);
    await shot(page, `operator-${tab.toLowerCase()}`);
  }
  await page.getByRole("button", { name: "Verify the ledger" }).click();
  await page.getByText("no difference").waitFor();
  await page.getByRole("button", { name: "Journal" }).click();
  const journal = await page.locator("pre").textContent();
  const charge = journal.split("\n").find((line) => /\bcharge\b/i.test(line)).match(/[0-9a-f]{8}-[0-9a-f-]{27}/)[0];
  await page.getByLabel("Charge").fill(charge);
  await page.getByLabel("Reason").fill("a trial of the console");
  await page.getByRole("button", { name: "Give back" }).click();
  await page.getByRole("status").getByText(/Given back: 0\.\d+ USD/).waitFor();
  await page.getByTestId("audit").getByText("a trial of the console").waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test("an operator brings a character in", async () => {
  const { context, page, faults } = await open(browser, url);
  await signIn(page, url, admin);
  await page.goto(`${url}/#/characters`);
  const data = { name: "Bosun Wren", description: "Keeps a small harbour.", personality: "", scenario: "", first_mes: "Ahoy.", mes_example: "" };
  const card = { spec: "chara_card_v2", spec_version: "2.0", data };
  const file = { name: "wren.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(card)) };
  await page.getByLabel("Character cards").setInputFiles(file);
  await page.getByRole("button", { name: "Bring in" }).click();
  await page.getByRole("status").getByText("Brought in: Bosun Wren").waitFor();
  await page.getByLabel("Search").fill("wren");
  await page.getByRole("heading", { name: "Bosun Wren" }).waitFor();
  await accessible(page);
  assert.deepEqual(faults, []);
  await context.close();
});

test("whoever signed out is out, also with a copy of the cookie", async () => {
  const { context, page } = await open(browser, url);
  await signIn(page, url, admin);
  const cookies = await context.cookies();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").waitFor();
  await context.addCookies(cookies);
  await page.goto(`${url}/`);
  await page.getByLabel("API key").waitFor();
  await context.close();
});

for (const look of LOOKS) {
  test(`every page is accessible and stays at home: ${look.name}`, async () => {
    const { context, page, faults } = await open(browser, url, look);
    await page.goto(`${url}/`);
    await page.getByLabel("API key").waitFor();
    await accessible(page);
    await shot(page, `${look.name}-sign-in`);
    await signIn(page, url, admin);
    for (const path of PAGES) {
      await page.goto(`${url}/#${path}`);
      await page.locator("main h1").waitFor();
      await page.waitForLoadState("networkidle");
      await accessible(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${path} is ${overflow} px too wide`);
      await shot(page, `${look.name}-${path === "/" ? "overview" : path.slice(1)}`);
    }
    for (const path of ["/docs", "/docs/api", "/docs/operating"]) {
      await page.goto(`${url}${path}`);
      await page.locator("main h1").first().waitFor();
      await accessible(page);
      await shot(page, `${look.name}${path.replaceAll("/", "-")}`);
    }
    assert.deepEqual(faults, []);
    await context.close();
  });
}

test("the documentation is found by its words", async () => {
  const { context, page, faults } = await open(browser, url);
  await page.goto(`${url}/docs`);
  await page.getByLabel("Search the documentation").fill("backup");
  await page.getByRole("navigation", { name: "Found" }).getByRole("link", { name: "Operating" }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test("the first page is small", async () => {
  let bytes = 0;
  for (const path of ["/", "/assets/index.js", "/assets/style.css", "/assets/uPlot.esm.js"]) {
    const { gzipSync } = await import("node:zlib");
    bytes += gzipSync(Buffer.from(await (await fetch(url + path)).arrayBuffer())).length;
  }
  assert.ok(bytes <= 200_000, `${bytes} bytes`);
});
