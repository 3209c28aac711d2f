// Tests the unmodified OpenAI SDK for Node: speech, streamed speech, and transcripts in every format.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

import OpenAI, { toFile } from "openai";

const GREETING = "Hello from the recording.";
const SOUND_BYTES = 6 * 4096;
const { API_URL: baseURL, API_KEY: apiKey, SAMPLES } = process.env;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });

function speak(input, options = {}) {
  return client.audio.speech.create({ model: "tts-small", voice: "ada", input, ...options });
}

function transcribe(name, options = {}) {
  const file = fs.createReadStream(path.join(SAMPLES, name));
  return client.audio.transcriptions.create({ model: "asr-small", file, ...options });
}

test("a text is spoken", async () => {
  for (const [format, type] of [
    ["mp3", "audio/mpeg"],
    ["opus", "audio/opus"],
    ["pcm", "audio/pcm"],
  ]) {
    const answer = await speak("Hello there.", { response_format: format });
    assert.equal(answer.headers.get("content-type"), type);
    assert.equal((await answer.arrayBuffer()).byteLength, SOUND_BYTES);
  }
});

test("a stream comes in pieces and ends", async () => {
  const answer = await speak("Hello there.", { streaming: true });
  let bytes = 0;
  for await (const piece of answer.body) bytes += piece.length;
  assert.equal(bytes, SOUND_BYTES);
});

test("a stream that breaks off is an error", async () => {
  const answer = await speak("break off", { streaming: true });
  await assert.rejects(answer.arrayBuffer());
});

test("a wrong voice lists the right ones", async () => {
  await assert.rejects(speak("Hello", { voice: "alloy" }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.match(error.message, /ada, ben/);
    return true;
  });
});

test("recordings are written down, whatever they are", async () => {
  for (const name of ["tone.wav", "tone.mp3", "tone.m4a", "live.webm", "tone.opus.ogg", "tone.flac"]) {
    assert.equal((await transcribe(name)).text, GREETING, name);
  }
});

test("every format of a transcript", async () => {
  assert.equal(await transcribe("tone.wav", { response_format: "text" }), GREETING);
  const long = await transcribe("tone.wav", {
    response_format: "verbose_json",
    timestamp_granularities: ["word", "segment"],
  });
  assert.equal(long.duration, 1.5);
  assert.equal(long.segments[0].end, 1.5);
  assert.deepEqual(
    long.words.map((word) => word.word),
    ["Hello", "recording"],
  );
  const srt = await transcribe("tone.wav", { response_format: "srt" });
  assert.match(srt, /^1\n00:00:00,000 --> 00:00:01,500\n/);
  const vtt = await transcribe("tone.wav", { response_format: "vtt" });
  assert.match(vtt, /^WEBVTT\n/);
});

test("a file that is too large has its code", async () => {
  const file = await toFile(Buffer.alloc(25 * 1024 * 1024 + 1), "large.wav");
  await assert.rejects(client.audio.transcriptions.create({ model: "asr-small", file }), (error) => {
    assert.equal(error.status, 413);
    return true;
  });
});
