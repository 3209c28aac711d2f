// Tests downloading built-in models in the console.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, launch, open, shot, signIn } from "./browser.mjs";

const { CONSOLE_URL: url, OPERATOR_KEY: operator } = process.env;
// Not one of the models that are downloaded at startup.
const MODEL = "whisper-tiny";
const FETCH_MS_MAX = 120_000;
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

test("an operator pulls a model, and callers can ask for it", async () => {
  const { context, page, faults } = await open(browser, url);
  await signIn(page, url, operator);
  const offered = async () => (await (await fetch(`${url}/api/v1/models?type=asr`)).json()).data.map((it) => it.id);
  assert.ok(!(await offered()).includes(MODEL));

  await page.goto(`${url}/#/models`);
  const line = page.getByTestId("weights").getByRole("listitem").filter({ hasText: MODEL });
  await line.getByText("not downloaded").waitFor();
  await accessible(page);
  await line.getByRole("button", { name: `Download ${MODEL}` }).click();
  await line.getByText("ready").waitFor({ timeout: FETCH_MS_MAX });
  await page.getByRole("link", { name: new RegExp(`Try it.*${MODEL}`) }).waitFor();
  assert.ok((await offered()).includes(MODEL));
  await shot(page, "weights");
  assert.deepEqual(faults, []);
  await context.close();
});
