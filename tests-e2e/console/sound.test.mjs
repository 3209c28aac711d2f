// Tests transcription in the playground with dropped and recorded audio, and the code of the call.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { accessible, launch, open, shot, signIn } from "./browser.mjs";
import { noteForms, runShown, shownCode } from "./recorder.mjs";

const { CONSOLE_URL: url, ADMIN_KEY: admin, INFERENCE_KEY: key, SAMPLE: sample } = process.env;
const HEARD = "Hello from the recording.";
const RECORDING_MS = 1500;
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

async function transcription() {
  const opened = await open(browser, url, { permissions: ["microphone"] });
  await noteForms(opened.context);
  await signIn(opened.page, url, admin);
  await opened.page.goto(`${url}/#/playground?tab=transcribe`);
  await opened.page.getByRole("button", { name: "Transcribe" }).waitFor();
  return opened;
}

test("a recording is dropped and heard, with its times and its cost", async () => {
  const { context, page, faults } = await transcription();
  const bytes = await readFile(sample);
  const dropped = await page.evaluateHandle(
    (numbers) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(numbers)], "talk.wav", { type: "audio/wav" }));
      return transfer;
    },
    [...bytes],
  );
  await page.getByRole("group", { name: "Recording" }).dispatchEvent("drop", { dataTransfer: dropped });
  await page.getByText(/talk\.wav, \d+ kB/).waitFor();
  await page.getByLabel("Language").fill("en");
  await page.getByLabel("Timestamps").check();
  await page.getByRole("button", { name: "Transcribe" }).click();
  await page.getByText(HEARD).first().waitFor();
  await page.getByRole("columnheader", { name: "From" }).waitFor();
  await page
    .getByTestId("cost")
    .getByText(/\$0\.0\d+ · \$0\.0\d+ so far/)
    .waitFor();
  await accessible(page);
  await shot(page, "transcription");

  const form = await page.evaluate(() => globalThis.sentForm);
  assert.deepEqual(form, {
    model: "asr-small",
    language: "en",
    timestamps: "true",
    file: { name: "talk.wav", bytes: bytes.length },
  });
  const programs = await runShown(await shownCode(page), { url, key, files: { "talk.wav": bytes } });
  assert.deepEqual(Object.keys(programs), ["curl", "Python", "Node", "Go"]);
  for (const [language, call] of Object.entries(programs)) {
    call.sent.file.bytes ??= bytes.length;
    assert.deepEqual(call, { method: "POST", path: "/v1/audio/transcriptions", status: 200, sent: form }, language);
  }
  assert.deepEqual(faults, []);
  await context.close();
});

test("a recording is made with the microphone and heard", async () => {
  const { context, page, faults } = await transcription();
  await page.getByRole("button", { name: "Record" }).click();
  const stop = page.getByRole("button", { name: "Stop recording" });
  await stop.waitFor();
  await page.waitForTimeout(RECORDING_MS);
  await stop.click();
  await page.getByText(/recording\.webm, [1-9]\d* kB/).waitFor();
  await page.getByRole("button", { name: "Transcribe" }).click();
  await page.getByText(HEARD).waitFor();
  const { file } = await page.evaluate(() => globalThis.sentForm);
  assert.equal(file.name, "recording.webm");
  assert.ok(1000 < file.bytes, `${file.bytes} bytes`);
  assert.deepEqual(faults, []);
  await context.close();
});

test("text is spoken, and can be listened to and saved", async () => {
  const { context, page, faults } = await transcription();
  await page.goto(`${url}/#/playground?tab=speech`);
  await page.getByRole("tab", { name: "Speech" }).click();
  await page.getByLabel("Text").fill("Good morning.");
  await page.getByLabel("Format").selectOption("wav");
  await page.getByRole("button", { name: "Generate, $0.00013" }).click();
  await page.getByText("Download").waitFor();
  assert.match(await page.locator("audio").getAttribute("src"), /^blob:/);
  await page.getByTestId("cost").getByText("$0.00013 · $0.00013 so far").waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});
