// Tests images in the playground with the built-in models: upscaling, background removal, and masks.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { accessible, launch, open, shot, signIn } from "./browser.mjs";
import { noteForms, runShown, shownCode } from "./recorder.mjs";

const { CONSOLE_URL: url, ADMIN_KEY: admin, PICTURE: picture, MASK: mask } = process.env;
const READY_MS_MAX = 180_000;
const BALL = [195, 120];
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

async function pictures(mode) {
  const opened = await open(browser, url);
  await noteForms(opened.context);
  const { page } = opened;
  await signIn(page, url, admin);
  await page.goto(`${url}/#/playground?tab=images`);
  await page.getByRole("button", { name: mode, exact: true }).click();
  await page.getByLabel("Image", { exact: true }).setInputFiles(picture);
  await page.getByAltText("Selected image").waitFor();
  return opened;
}

/** Clicks the button until the model's files are downloaded; returns the resulting image. */
async function result(page, name) {
  const made = page.getByAltText(/^Result 1/);
  for (const until = Date.now() + READY_MS_MAX; ;) {
    const button = page.getByRole("button", { name });
    await button.click();
    await made.or(page.getByRole("alert")).waitFor({ timeout: READY_MS_MAX });
    if (await made.count()) return made;
    const said = await page.getByRole("alert").textContent();
    assert.ok(Date.now() < until && /fetched|ready|loaded|many/.test(said), said);
    await page.waitForTimeout(5000);
  }
}

/** The size of an image on the page, and its colours at given points. */
const look = (made, places) =>
  made.evaluate(async (image, wanted) => {
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const at = ([x, y]) => [...context.getImageData(x, y, 1, 1).data];
    return { width: canvas.width, height: canvas.height, colours: wanted.map(at) };
  }, places);

test("a picture is enlarged, and the code of the call does the same", async () => {
  const { context, page, faults } = await pictures("Upscale");
  await page.getByLabel("Scale").selectOption("2");
  const made = await result(page, /^Upscale, \$/);
  const { width, height, colours } = await look(made, [BALL.map((it) => 2 * it)]);
  assert.deepEqual([width, height], [512, 512]);
  const [red, green] = colours[0];
  assert.ok(green + 64 < red, `the ball is red: ${colours}`);
  await page
    .getByTestId("cost")
    .getByText(/ s · \$0\.\d+ · \$0\.\d+ so far/)
    .waitFor();
  await accessible(page);
  await shot(page, "upscale");

  const form = await page.evaluate(() => globalThis.sentForm);
  assert.equal(form.scale, "2");
  const bytes = await readFile(picture);
  const { curl, Python, Node, Go } = await shownCode(page);
  const file = form.image.name;
  const programs = await runShown({ curl, Go }, { url, key: admin, files: { [file]: bytes } });
  for (const [language, call] of Object.entries(programs)) {
    call.sent.image.bytes ??= bytes.length;
    assert.deepEqual(call, { method: "POST", path: "/v1/image/upscale", status: 200, sent: form }, language);
  }
  assert.ok(Python.includes(`open("${file}", "rb")`) && Node.includes(`readFile("${file}")`));
  assert.deepEqual(faults, []);
  await context.close();
});

test("a picture is cut out of its background", async () => {
  const { context, page } = await pictures("Remove background");
  const made = await result(page, /^Remove background, \$/);
  const { colours } = await look(made, [[0, 0], BALL]);
  assert.equal(colours[0][3], 0, "the corner is clear");
  assert.equal(colours[1][3], 255, "the ball is still there");
  await context.close();
});

test("what a mask shows is erased", async () => {
  const { context, page } = await pictures("Edit");
  await page.getByLabel("Model").selectOption("erase-migan");
  await page.getByLabel("Mask").setInputFiles(mask);
  await page.getByLabel("Prompt").fill("erase");
  const before = await look(page.getByAltText("Selected image"), [BALL, [10, 10]]);
  const made = await result(page, /^Edit, \$/);
  const after = await look(made, [BALL, [10, 10]]);
  const redness = ([red, green, blue]) => red - Math.max(green, blue);
  assert.ok(64 < redness(before.colours[0]) && redness(after.colours[0]) < 64, `${before.colours} ${after.colours}`);
  assert.deepEqual(after.colours[1], before.colours[1], "outside of the mask nothing is changed");
  const form = await page.evaluate(() => globalThis.sentForm);
  assert.deepEqual(Object.keys(form), ["model", "prompt", "response_format", "image", "mask"]);
  await context.close();
});
