// The playground's chat: tools and what they give, answers by a schema, and the code of each call.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, launch, open, shot, signIn } from "./browser.mjs";
import { runShown, shownCode } from "./recorder.mjs";

const { CONSOLE_URL: url, ADMIN_KEY: admin, INFERENCE_KEY: key, PICTURE: picture } = process.env;
const TOOL = { type: "function", function: { name: "weather", parameters: { type: "object" } } };
const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, population: { type: "integer" } },
  required: ["city", "population"],
  additionalProperties: false,
};
// What a shell, Python, JavaScript and Go each write in their own way.
const ODD = "It's \"odd\": `back`, $HOME, \\n, true, null\nand a second line";
let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

async function chat() {
  const opened = await open(browser, url);
  await signIn(opened.page, url, admin);
  await opened.page.goto(`${url}/#/playground`);
  await opened.page.getByLabel("Message").waitFor();
  return opened;
}

/** Does something and gives the body of the chat that the page sent for it. */
async function asked(page, work) {
  const [request] = await Promise.all([page.waitForRequest(/\/chat\/completions$/), work()]);
  return request.postDataJSON();
}

async function say(page, text) {
  await page.getByLabel("Message").fill(text);
  return asked(page, () => page.getByRole("button", { name: "Send", exact: true }).click());
}

/** The code is of the call that was made, in each language, and asks for the same when it is run. */
async function codeAsks(page, body) {
  const programs = await runShown(await shownCode(page), { url, key });
  assert.deepEqual(Object.keys(programs), ["curl", "Python", "Node", "Go"]);
  for (const [language, call] of Object.entries(programs)) {
    assert.deepEqual(call, { method: "POST", path: "/api/v1/chat/completions", status: 200, sent: body }, language);
  }
}

test("a model calls a tool, is told what it gave, and goes on", async () => {
  const { context, page, faults } = await chat();
  const talk = page.getByTestId("talk");
  await page.getByLabel("Tools").fill(JSON.stringify([TOOL]));
  const first = await say(page, "What is the weather in Paris?");
  assert.deepEqual(first.tools, [TOOL]);
  await talk.getByText('weather {"city": "Paris"}').waitFor();
  await codeAsks(page, first);

  await page.getByLabel("What weather gives").fill("Rain, 12 °C");
  await accessible(page);
  const second = await asked(page, () => page.getByRole("button", { name: "Send the results" }).click());
  await talk.getByText("The tool says: Rain, 12 °C").waitFor();
  const [question, call, result] = second.messages;
  assert.deepEqual(question, { role: "user", content: "What is the weather in Paris?" });
  assert.deepEqual(call, {
    role: "assistant",
    content: null,
    tool_calls: [{ id: call.tool_calls[0].id, type: "function", function: { name: "weather", arguments: '{"city": "Paris"}' } }],
  });
  assert.deepEqual(result, { role: "tool", tool_call_id: call.tool_calls[0].id, content: "Rain, 12 °C" });
  assert.ok(call.tool_calls[0].id, "the call has an id");
  await codeAsks(page, second);
  await shot(page, "chat-tools");
  assert.deepEqual(faults, []);
  await context.close();
});

test("an answer keeps a schema, and a schema that is no JSON is told before anything is sent", async () => {
  const { context, page, faults } = await chat();
  await page.getByLabel("Answer’s JSON schema").fill("{");
  await page.getByLabel("Message").fill("A city, please.");
  let sent = 0;
  page.on("request", (request) => (sent += request.url().endsWith("/chat/completions") ? 1 : 0));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("alert").getByText("The schema is no JSON").waitFor();
  assert.equal(await page.getByLabel("Message").inputValue(), "A city, please.", "nothing typed is lost");
  assert.equal(sent, 0);

  await page.getByLabel("Answer’s JSON schema").fill(JSON.stringify(SCHEMA));
  await page.getByLabel("Temperature").fill("0.2");
  await page.getByLabel("System prompt").fill(ODD);
  const body = await say(page, "A city, please.");
  await page.getByTestId("talk").getByText('{"city": "Paris", "population": 2100000}').waitFor();
  assert.deepEqual(body.response_format, { type: "json_schema", json_schema: { name: "answer", strict: true, schema: SCHEMA } });
  assert.deepEqual(body.messages[0], { role: "system", content: ODD });
  assert.equal(body.temperature, 0.2);
  await codeAsks(page, body);
  await shot(page, "chat-schema");
  assert.deepEqual(faults, []);
  await context.close();
});

test("thoughts stand apart, a character speaks, and the code names it", async () => {
  const { context, page, faults } = await chat();
  const character = page.getByLabel("Character");
  const slug = await character.locator("option").nth(1).getAttribute("value");
  await character.selectOption(slug);
  const body = await say(page, "think");
  const talk = page.getByTestId("talk");
  await talk.getByText("Hello from the upstream.").waitFor();
  const thoughts = talk.locator("details");
  assert.equal(await thoughts.textContent(), "ThoughtsHm.");
  assert.equal(await thoughts.evaluate((it) => it.open), false, "thoughts are folded away");
  await talk.getByText("Thoughts").click();
  assert.equal(await thoughts.evaluate((it) => it.open), true);
  assert.deepEqual(body.service_parameters, { character_slug: slug });
  await codeAsks(page, body);
  assert.deepEqual(faults, []);
  await context.close();
});

test("a picture and a file go along, and the code leaves their bytes out", async () => {
  const { context, page, faults } = await chat();
  await page.getByLabel("Attach").setInputFiles(picture);
  await page.getByText("pictor-rocket.png").waitFor();
  await say(page, "What is this?");
  const talk = page.getByTestId("talk");
  await talk.getByText("I see 1 image.").waitFor();
  await talk.getByAltText("Attached picture 1").waitFor();
  const report = { name: "report.pdf", mimeType: "application/pdf", buffer: Buffer.from(`%PDF-1.7\n${"%".repeat(400)}`) };
  await page.getByLabel("Attach").setInputFiles(report);
  await page.getByText("report.pdf").waitFor();
  await say(page, "And this?");
  await talk.getByText("I read report.pdf.").waitFor();
  const { curl } = await shownCode(page);
  assert.ok(curl.includes("data:application/pdf;base64,<BASE64>"), curl);
  assert.deepEqual(faults, []);
  await context.close();
});
