// Tests the unmodified OpenAI SDK for Node: chats, streams, tools, schemas, embeddings and errors.
import assert from "node:assert/strict";
import { test } from "node:test";

import OpenAI, { toFile } from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const GREETING = "Hello from the upstream.";
const { API_URL: baseURL, API_KEY: apiKey, POOR_KEY: poorKey } = process.env;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = "small-text";

function user(content) {
  return [{ role: "user", content }];
}

function tool(run) {
  return {
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather in a city.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
      parse: JSON.parse,
      function: run,
    },
  };
}

test("a chat is answered with its usage", async () => {
  const answer = await client.chat.completions.create({ model, messages: user("Hi") });
  assert.equal(answer.choices[0].message.content, GREETING);
  assert.equal(answer.usage.prompt_tokens, 20);
  assert.match(answer._request_id, /^[0-9a-f]{32}$/);
});

test("a stream adds up and has its usage", async () => {
  const stream = await client.chat.completions.create({
    model,
    messages: user("Hi"),
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  let usage;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta?.content ?? "";
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, GREETING);
  assert.equal(usage.prompt_tokens, 20);
});

test("the usage of a stream that did not ask for it rides on the last choice", async () => {
  const stream = await client.chat.completions.create({ model, messages: user("Hi"), stream: true });
  let last;
  for await (const chunk of stream) {
    assert.equal(chunk.choices.length, 1);
    last = chunk;
  }
  assert.equal(last.choices[0].finish_reason, "stop");
  assert.equal(last.usage.prompt_tokens, 20);
});

test("a tool is run and its result is read", async () => {
  const runner = client.chat.completions.runTools({
    model,
    messages: user("What is the weather in Paris?"),
    tools: [tool(({ city }) => `sun in ${city}`)],
  });
  assert.equal(await runner.finalContent(), "The tool says: sun in Paris");
});

test("an answer is parsed by its schema", async () => {
  const City = z.object({ city: z.string(), population: z.number() });
  const answer = await client.chat.completions.parse({
    model,
    messages: user("A city?"),
    response_format: zodResponseFormat(City, "city"),
  });
  assert.deepEqual(answer.choices[0].message.parsed, { city: "Paris", population: 2100000 });
});

test("a caller may leave a stream early", async () => {
  const stream = await client.chat.completions.create({
    model,
    messages: user("slow"),
    stream: true,
  });
  let seen = 0;
  for await (const _ of stream) {
    seen += 1;
    if (seen === 5) break;
  }
  assert.equal(seen, 5);
});

test("an upstream that breaks off is an error", async () => {
  const stream = await client.chat.completions.create({
    model,
    messages: user("break off"),
    stream: true,
  });
  await assert.rejects(async () => {
    for await (const _ of stream);
  }, OpenAI.APIError);
});

test("a response is answered, whole and as a stream", async () => {
  const answer = await client.responses.create({ model, input: "Hi" });
  assert.equal(answer.output_text, GREETING);
  const stream = await client.responses.create({ model, input: "Hi", stream: true });
  let text = "";
  let last;
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") text += event.delta;
    last = event;
  }
  assert.equal(text, GREETING);
  assert.equal(last.type, "response.completed");
});

test("a response is stored and continued, and a conversation grows", async () => {
  const first = await client.responses.create({ model, input: "I am Ada.", store: true });
  assert.equal((await client.responses.retrieve(first.id)).output_text, GREETING);
  const second = await client.responses.create({ model, input: "Who?", previous_response_id: first.id });
  assert.equal(second.previous_response_id, first.id);
  await client.responses.delete(first.id);
  await assert.rejects(client.responses.retrieve(first.id), OpenAI.NotFoundError);
  const conversation = await client.conversations.create({ metadata: { topic: "names" } });
  await client.responses.create({ model, input: "Hi", conversation: conversation.id });
  const texts = [];
  for await (const item of client.conversations.items.list(conversation.id, { order: "asc" })) {
    texts.push(item.content[0].text);
  }
  assert.deepEqual(texts, ["Hi", GREETING]);
  await client.conversations.delete(conversation.id);
});

test("a background stream is resumed", async () => {
  const stream = await client.responses.create({ model, input: "Hi", background: true, stream: true });
  const events = [];
  for await (const event of stream) {
    events.push(event);
    break;
  }
  const name = events[0].response.id;
  const rest = await client.responses.retrieve(name, { stream: true, starting_after: events[0].sequence_number });
  for await (const event of rest) events.push(event);
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, number) => number),
  );
  assert.equal(events.at(-1).type, "response.completed");
});

test("texts are embedded in their order", async () => {
  for (const encoding_format of [undefined, "float"]) {
    const input = ["a", "bb", "ccc"];
    const answer = await client.embeddings.create({
      model: "small-embedding",
      input,
      encoding_format,
    });
    assert.deepEqual(
      answer.data.map((entry) => Array.from(entry.embedding)[0]),
      [1, 2, 3],
    );
  }
});

test("errors have their classes", async () => {
  const chat = (options, as = client) => as.chat.completions.create({ model, messages: user("Hi"), ...options });
  await assert.rejects(chat({ temperature: 3 }), OpenAI.BadRequestError);
  await assert.rejects(chat({ model: "nothing" }), OpenAI.NotFoundError);
  const stranger = new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 });
  await assert.rejects(chat({}, stranger), OpenAI.AuthenticationError);
  const poor = new OpenAI({ baseURL, apiKey: poorKey, maxRetries: 0 });
  await assert.rejects(chat({}, poor), (error) => error.status === 402);
});

test("an overloaded upstream is asked again after the wait it named", async () => {
  const patient = new OpenAI({ baseURL, apiKey, maxRetries: 1 });
  const started = performance.now();
  const answer = await patient.chat.completions.create({ model, messages: user("overloaded") });
  assert.equal(answer.choices[0].message.content, GREETING);
  assert.ok(1000 <= performance.now() - started);
});

test("a batch runs, and its files are read and deleted", async () => {
  const url = "/v1/chat/completions";
  const line = { custom_id: "a", method: "POST", url, body: { model, messages: user("Hi") } };
  const content = await toFile(Buffer.from(JSON.stringify(line)), "lines.jsonl");
  const file = await client.files.create({ file: content, purpose: "batch" });
  let batch = await client.batches.create({ input_file_id: file.id, endpoint: url, completion_window: "24h" });
  for (let look = 0; look < 300 && batch.status !== "completed"; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    batch = await client.batches.retrieve(batch.id);
  }
  assert.equal(batch.status, "completed");
  const output = await client.files.content(batch.output_file_id);
  const result = JSON.parse(await output.text());
  assert.equal(result.response.body.choices[0].message.content, GREETING);
  const listed = [];
  for await (const one of client.batches.list({ limit: 5 })) listed.push(one.id);
  assert.ok(listed.includes(batch.id));
  await assert.rejects(client.batches.cancel(batch.id), (error) => error.status === 409);
  assert.equal((await client.files.delete(file.id)).deleted, true);
  await assert.rejects(client.files.retrieve(file.id), (error) => error.status === 404);
});
