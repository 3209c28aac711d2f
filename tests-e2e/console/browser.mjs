// Opens the console in a browser, and records page errors for the tests.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const AXE = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // A fake microphone that beeps, with permission granted.
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
];

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });

/** Opens a page in its own context; `faults` collects errors and requests to other origins. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const faults = [];
  const origin = new URL(url).origin;
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const asked = request.url();
    if (/^(data|blob):/.test(asked)) return;
    if (new URL(asked).origin !== origin) faults.push(`left the origin: ${asked}`);
  });
  return { context, page, faults };
}

export async function signIn(page, url, key) {
  await page.goto(`${url}/`);
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
}

/** Asserts that axe finds nothing serious or critical. */
export async function accessible(page) {
  // The page's CSP forbids inline scripts, so axe is injected through the debugger.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const bad = violations.filter((it) => ["serious", "critical"].includes(it.impact));
  const descriptions = bad.map((it) => `${it.id}: ${it.nodes.map((node) => node.html).join(" | ")}`);
  assert.deepEqual(descriptions, [], page.url());
}

export async function shot(page, name) {
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
}
