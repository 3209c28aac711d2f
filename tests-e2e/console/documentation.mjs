// Tests the documentation pages: search, the list of pages, and examples to copy.

import assert from "node:assert/strict";
import { test } from "node:test";
import { signIn } from "./browser.mjs";

const { CONSOLE_URL: url, OPERATOR_KEY: operator } = process.env;

/** Adds the tests; `openConsole` opens a page in its own context. */
export function testDocumentation(openConsole) {
  test("the documentation is found by its words", async () => {
    const { context, page, faults } = await openConsole();
    await page.goto(`${url}/docs`);
    const results = page.getByRole("navigation", { name: "Search results" });
    await page.getByLabel("Search the documentation").fill("idempotency");
    await results.getByRole("link", { name: "Errors" }).waitFor();
    // Only operators find pages for operators.
    await page.getByLabel("Search the documentation").fill("backup");
    assert.equal(await results.getByRole("link", { name: "Operating" }).count(), 0);
    await signIn(page, url, operator);
    await page.goto(`${url}/docs`);
    await page.getByRole("navigation", { name: "Documentation" }).getByRole("heading", { name: "Operators" }).waitFor();
    await page.getByLabel("Search the documentation").fill("backup");
    await results.getByRole("link", { name: "Operating" }).waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  });

  test("the documentation is listed by reader, and its examples are copied", async () => {
    const { context, page, faults } = await openConsole({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(`${url}/docs/readme`);
    const menu = page.getByRole("navigation", { name: "Documentation" });
    await menu.getByRole("link", { name: "Errors" }).waitFor();
    // Callers see only the open one of the pages for operators.
    assert.deepEqual(await menu.getByRole("heading").allTextContents(), ["Callers", "Operators"]);
    assert.equal(await menu.getByRole("link", { name: "Operating" }).count(), 0);
    const block = page.locator(".copied-code", { hasText: "make run" }).first();
    await block.getByRole("button", { name: "Copy" }).click();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^make run /);
    assert.deepEqual(faults, []);
    await context.close();
  });
}
