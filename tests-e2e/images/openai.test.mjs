// Tests the unmodified OpenAI SDK for Node: image generation and edits.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";

import OpenAI, { toFile } from "openai";

const { API_URL: baseURL, API_KEY: apiKey, PICTURE } = process.env;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });

function sides(base64) {
  const picture = Buffer.from(base64, "base64");
  assert.equal(picture.subarray(1, 4).toString(), "PNG");
  return [picture.readUInt32BE(16), picture.readUInt32BE(20)];
}

test("a picture is made", async () => {
  const answer = await client.images.generate({ model: "painter", prompt: "a fox", size: "512x512" });
  assert.deepEqual(sides(answer.data[0].b64_json), [512, 512]);
  assert.ok(Number.isInteger(answer.created));
});

test("a picture is edited", async () => {
  const image = fs.createReadStream(PICTURE);
  const answer = await client.images.edit({ model: "editor", prompt: "make it blue", image });
  assert.deepEqual(sides(answer.data[0].b64_json), [1456, 720]);
});

test("several pictures are made into one", async () => {
  const file = () => toFile(fs.readFileSync(PICTURE), "picture.png", { type: "image/png" });
  const image = [await file(), await file()];
  const answer = await client.images.edit({ model: "editor", prompt: "both", image });
  assert.equal(answer.data.length, 1);
});

test("what is no picture is a bad request that says so", async () => {
  const image = await toFile(Buffer.from("<svg/>"), "picture.png", { type: "image/png" });
  await assert.rejects(
    client.images.edit({ model: "editor", prompt: "x", image }),
    (error) => error.status === 400 && /SVG/.test(error.message),
  );
});
