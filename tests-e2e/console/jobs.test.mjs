// Tests music and videos in the playground: price, progress, result and deletion.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, launch, open, shot, signIn } from "./browser.mjs";
import { runShown, shownCode } from "./recorder.mjs";

const { CONSOLE_URL: url, ADMIN_KEY: admin, INFERENCE_KEY: key } = process.env;
const MADE_MS_MAX = 60_000;
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

async function playground(tab, model) {
  const opened = await open(browser, url);
  await signIn(opened.page, url, admin);
  await opened.page.goto(`${url}/#/playground?tab=${tab}`);
  await opened.page.getByLabel("Model").selectOption(model);
  return opened;
}

/** Queues a job and returns the request body. */
async function make(page, path, name) {
  const button = page.getByRole("button", { name });
  const [request] = await Promise.all([page.waitForRequest((it) => it.url().endsWith(path)), button.click()]);
  return request.postDataJSON();
}

test("music is priced, made, listened to and deleted", async () => {
  const { context, page, faults } = await playground("music", "composer");
  await page.getByLabel("Prompt").fill("slow piano in the rain");
  await page.getByLabel("Duration (seconds)").fill("5");
  const body = await make(page, "/audio/queue", "Generate, $0.005");
  assert.deepEqual(body, { model: "composer", prompt: "slow piano in the rain", duration_seconds: 5 });
  const job = page.getByTestId("job").filter({ hasText: "slow piano in the rain" });
  await job.getByText("completed").waitFor({ timeout: MADE_MS_MAX });
  const seconds = await job
    .locator("audio")
    .evaluate(
      (audio) =>
        new Promise((done) =>
          audio.readyState ? done(audio.duration) : (audio.onloadedmetadata = () => done(audio.duration)),
        ),
    );
  assert.ok(4 < seconds && seconds < 12, `${seconds} s`);
  await accessible(page);
  await shot(page, "music");
  const programs = await runShown(await shownCode(page), { url, key });
  for (const [language, call] of Object.entries(programs)) {
    assert.deepEqual(call, { method: "POST", path: "/v1/audio/queue", status: 200, sent: body }, language);
  }
  await job.getByRole("button", { name: "Delete result" }).click();
  await job.getByRole("button", { name: "Delete result" }).waitFor({ state: "detached" });
  assert.equal(await job.locator("audio").count(), 0);
  assert.deepEqual(faults, []);
  await context.close();
});

test("a video shows its progress, is watched, and stays in the list of jobs", async () => {
  const { context, page, faults } = await playground("video", "clips");
  await page.getByLabel("Prompt").fill("a paper boat on a stream");
  const body = await make(page, "/video/queue", "Generate, $0.07");
  assert.deepEqual(body, { model: "clips", prompt: "a paper boat on a stream", duration: "5s" });
  const job = page.getByTestId("job").filter({ hasText: "a paper boat on a stream" });
  const progress = job.getByRole("progressbar");
  await progress.waitFor();
  await shot(page, "video-progress");
  await page.waitForFunction(() => 0 < document.querySelector('[data-testid="job"] progress')?.value);
  await job.getByText("completed").waitFor({ timeout: MADE_MS_MAX });
  assert.equal(await progress.count(), 0, "what is made has no progress");
  assert.match(await job.locator("video").getAttribute("src"), /^blob:/);

  await page.goto(`${url}/#/jobs`);
  const listed = page.getByTestId("job").filter({ hasText: "clips" }).first();
  await listed.getByText("completed").waitFor();
  await accessible(page);
  await shot(page, "jobs");
  assert.deepEqual(faults, []);
  await context.close();
});

test("a video of a private model is watched from its link, also after the page is loaded again", async () => {
  const { context, page, faults } = await playground("video", "private-clips");
  const played = page.waitForResponse((it) => it.url().includes("/api/v1/media/"));
  await page.getByLabel("Prompt").fill("a lighthouse at dusk");
  await make(page, "/video/queue", "Generate, $0.07");
  const job = page.getByTestId("job").filter({ hasText: "private-clips" }).first();
  await job.getByText("completed").waitFor({ timeout: MADE_MS_MAX });
  assert.match(await job.locator("video").getAttribute("src"), /^\/api\/v1\/media\//);
  assert.ok([200, 206].includes((await played).status()), "the link plays");

  await page.reload();
  await job.getByRole("button", { name: "Watch" }).click();
  await job.locator("video").waitFor();
  await shot(page, "video-private");
  await job.getByRole("button", { name: "Delete result" }).click();
  await job.locator("video").waitFor({ state: "detached" });
  assert.deepEqual(faults, []);
  await context.close();
});

test("a job that its provider forbids says so and costs nothing", async () => {
  const { context, page } = await playground("video", "clips");
  await page.getByLabel("Prompt").fill("forbidden");
  const before = await clipsCharged();
  await make(page, "/video/queue", "Generate, $0.07");
  const job = page.getByTestId("job").filter({ hasText: "forbidden" });
  await job.locator(".chip.bad").waitFor({ timeout: MADE_MS_MAX });
  await job.locator("p.bad").waitFor();
  assert.equal(await clipsCharged(), before);
  await context.close();
});

async function clipsCharged() {
  const answer = await fetch(`${url}/api/v1/billing/usage?limit=500`, {
    headers: { authorization: `Bearer ${admin}` },
  });
  const { data } = await answer.json();
  const charges = data.filter((it) => it.sku.startsWith("clips"));
  assert.notEqual(charges.length, 0, "those that were made are charged for");
  return charges.length;
}
