// Tests that every page is accessible and fits the screen, in light and dark, on a desktop and on a phone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { accessible, shot, signIn } from "./browser.mjs";

const { CONSOLE_URL: url, OPERATOR_KEY: operator } = process.env;
const PAGES = [
  "/",
  "/keys",
  "/playground",
  "/models",
  "/activity",
  "/jobs",
  "/responses",
  "/batches",
  "/mcp-servers",
  "/characters",
  "/top-up",
  "/operator",
];
const LOOKS = [
  { name: "desktop-light", colorScheme: "light", viewport: { width: 1280, height: 860 } },
  { name: "desktop-dark", colorScheme: "dark", viewport: { width: 1280, height: 860 } },
  { name: "phone-light", colorScheme: "light", viewport: { width: 360, height: 740 } },
  { name: "phone-dark", colorScheme: "dark", viewport: { width: 360, height: 740 } },
];

/** Asserts that the page is accessible and not wider than the screen. */
async function checkPage(page, name) {
  await page.locator("main h1").first().waitFor();
  await page.waitForLoadState("networkidle");
  await accessible(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `${name} is ${overflow} px too wide`);
  await shot(page, name);
}

/** Checks every tab of a page. */
async function checkTabs(page, name) {
  const tabs = page.getByRole("tablist").first().getByRole("tab");
  for (const tab of await tabs.all()) {
    await tab.click();
    await checkPage(page, `${name}-${(await tab.textContent()).toLowerCase()}`);
  }
}

/** Adds the tests; `openConsole` opens a page in its own context. */
export function testEveryPage(openConsole) {
  for (const look of LOOKS) {
    test(`every page is accessible and stays at home: ${look.name}`, async () => {
      const { context, page, faults } = await openConsole(look);
      await page.goto(`${url}/`);
      await page.getByLabel("API key").waitFor();
      await checkPage(page, `${look.name}-sign-in`);
      await signIn(page, url, operator);
      const links = page.locator("nav#nav a[href^='#/']");
      const offered = await links.evaluateAll((all) => all.map((it) => it.getAttribute("href").slice(1)));
      assert.deepEqual(offered, PAGES, "a page that is not looked at");
      for (const path of PAGES) {
        await page.goto(`${url}/#${path}`);
        await checkPage(page, `${look.name}-${path === "/" ? "overview" : path.slice(1)}`);
        if (path === "/playground" || path === "/operator") await checkTabs(page, `${look.name}-${path.slice(1)}`);
      }
      await page.goto(`${url}/#/keys`);
      await page.getByRole("button", { name: "New key" }).click();
      await checkPage(page, `${look.name}-new-key`);
      const documents = (await (await fetch(`${url}/docs/index.json`)).json()).map((it) => it.slug);
      assert.ok(20 < documents.length && documents.length < 30, documents.join());
      // Each page is checked in one look only.
      const known = new Set([...documents, "api", ""]);
      const some = look === LOOKS[0] ? ["index", ...documents, "api"] : ["index", "readme", "api", "operating"];
      for (const slug of some) {
        await page.goto(`${url}/docs/${slug === "index" ? "" : slug}`);
        await checkPage(page, `${look.name}-docs-${slug.replace("/", "-")}`);
        const linked = await page
          .locator("article a[href^='/docs/']")
          .evaluateAll((all) => all.map((it) => it.pathname.slice(6)));
        const dead = linked.filter((it) => !known.has(it));
        assert.deepEqual(dead, [], `links of ${slug}`);
      }
      assert.deepEqual(faults, []);
      await context.close();
    });
  }
}
