// Tests the playground's chat: tools and their results, JSON schemas, and the code of each call.

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
// Characters that a shell, Python, JavaScript and Go escape differently.
const ODD = 'It\'s "odd": `back`, $HOME, \\n, true, null\nand a second line';
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

/** Runs `work` and returns the body of the chat request that the page sends. */
async function asked(page, work) {
  const [request] = await Promise.all([page.waitForRequest(/\/chat\/completions$/), work()]);
  return request.postDataJSON();
}

async function say(page, text) {
  await page.getByLabel("Message").fill(text);
  return asked(page, () => page.getByRole("button", { name: "Send", exact: true }).click());
}

/** Asserts that the shown code in each language sends the same request when it is run. */
async function codeAsks(page, body) {
  const programs = await runShown(await shownCode(page), { url, key });
  assert.deepEqual(Object.keys(programs), ["curl", "Python", "Node", "Go"]);
  for (const [language, call] of Object.entries(programs)) {
    assert.deepEqual(call, { method: "POST", path: "/v1/chat/completions", status: 200, sent: body }, language);
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

  await page.getByLabel("Result of weather").fill("Rain, 12 °C");
  await accessible(page);
  const second = await asked(page, () => page.getByRole("button", { name: "Send results" }).click());
  await talk.getByText("The tool says: Rain, 12 °C").waitFor();
  const [question, call, result] = second.messages;
  assert.deepEqual(question, { role: "user", content: "What is the weather in Paris?" });
  assert.deepEqual(call, {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: call.tool_calls[0].id, type: "function", function: { name: "weather", arguments: '{"city": "Paris"}' } },
    ],
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
  await page.getByLabel("JSON schema").fill("{");
  await page.getByLabel("Message").fill("A city, please.");
  let sent = 0;
  page.on("request", (request) => (sent += request.url().endsWith("/chat/completions") ? 1 : 0));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("alert").getByText("JSON schema is not valid JSON").waitFor();
  assert.equal(await page.getByLabel("Message").inputValue(), "A city, please.", "nothing typed is lost");
  assert.equal(sent, 0);

  await page.getByLabel("JSON schema").fill(JSON.stringify(SCHEMA));
  await page.getByLabel("Temperature").fill("0.2");
  await page.getByLabel("System prompt").fill(ODD);
  const body = await say(page, "A city, please.");
  await page.getByTestId("talk").getByText('{"city": "Paris", "population": 2100000}').waitFor();
  assert.deepEqual(body.response_format, {
    type: "json_schema",
    json_schema: { name: "answer", strict: true, schema: SCHEMA },
  });
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
  assert.equal(await thoughts.textContent(), "ReasoningHm.");
  assert.equal(await thoughts.evaluate((it) => it.open), false, "thoughts are folded away");
  await talk.getByText("Reasoning").click();
  assert.equal(await thoughts.evaluate((it) => it.open), true);
  assert.deepEqual(body.service_parameters, { character_slug: slug });
  await codeAsks(page, body);
  assert.deepEqual(faults, []);
  await context.close();
});

/** Replaces the answer of the scripted upstream. */
async function upstreamSays(page, text) {
  const chunk = (delta, more = {}) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }], ...more })}\n\n`;
  const body =
    chunk({ content: text }) + chunk({}, { usage: { prompt_tokens: 1, completion_tokens: 1 } }) + "data: [DONE]\n\n";
  await page.route(/\/chat\/completions$/, (route) => route.fulfill({ contentType: "text/event-stream", body }));
}

test("an answer is shown as markdown, and nothing in it runs", async () => {
  const { context, page, faults } = await chat();
  const evil =
    '<img src=x onerror="window.ran=1"><script>window.ran=1</script><iframe src="https://evil.test"></iframe>\n\n[here](javascript:window.ran=1) ![picture](https://evil.test/x.png) <svg onload="window.ran=1">';
  await upstreamSays(
    page,
    `# Title\n\nSome **bold** text and \`code\`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[docs](https://example.com/a)\n\n${evil}`,
  );
  await say(page, "Hi");
  const answer = page.getByTestId("talk").locator(".answer");
  await answer.getByText("bold").waitFor();
  assert.deepEqual(await answer.locator("strong, code, li, td").allTextContents(), [
    "bold",
    "code",
    "one",
    "two",
    "1",
    "2",
  ]);
  assert.equal(await answer.getByRole("heading", { name: "Title" }).count(), 1);
  assert.equal(await answer.locator("img, script, iframe, svg").count(), 0);
  assert.deepEqual(await answer.locator("a").evaluateAll((all) => all.map((it) => it.getAttribute("href"))), [
    "https://example.com/a",
    null,
  ]);
  await answer.getByText('<img src=x onerror="window.ran=1">').waitFor();
  assert.equal(await page.evaluate(() => window.ran), undefined);
  await accessible(page);
  await shot(page, "chat-markdown");
  assert.deepEqual(faults, []);
  await context.close();
});

test("a conversation outlasts other tabs and pages, is copied, and answered again", async () => {
  const { context, page, faults } = await chat();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Explain in two sentences" }).click();
  const talk = page.getByTestId("talk");
  await talk.getByText("Hello from the upstream.").waitFor();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "Hello from the upstream.");
  const again = await asked(page, () => page.getByRole("button", { name: "Retry" }).click());
  assert.deepEqual(again.messages, [{ role: "user", content: "Explain in two sentences why the sky is blue." }]);
  await page.getByRole("button", { name: "Retry" }).waitFor();
  await page.getByLabel("Message").fill("not sent yet");
  await page.getByRole("tab", { name: "Embeddings" }).click();
  await page.getByRole("link", { name: "Models" }).click();
  await page.getByRole("link", { name: "Playground" }).click();
  await talk.getByText("Hello from the upstream.").waitFor();
  assert.equal(await page.getByLabel("Message").inputValue(), "not sent yet");
  await page.getByRole("button", { name: "Sign out" }).click();
  await signIn(page, url, key);
  await page.goto(`${url}/#/playground`);
  await page.getByLabel("Message").waitFor();
  assert.equal(await page.getByLabel("Message").inputValue(), "", "the next one starts anew");
  assert.equal(await talk.getByText("Hello from the upstream.").count(), 0);
  assert.deepEqual(faults, []);
  await context.close();
});

test("two models answer side by side", async () => {
  const { context, page, faults } = await chat();
  await page.getByLabel("Compare with").selectOption("large-text");
  const asks = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/chat/completions")) asks.push(request.postDataJSON());
  });
  await say(page, "Hi");
  const talks = page.getByTestId("talk").locator(".talk");
  await talks.nth(0).getByText("Hello from the upstream.").waitFor();
  await talks.nth(1).getByText("Hello from the upstream.").waitFor();
  assert.deepEqual(asks.map((it) => it.model).sort(), ["large-text", "small-text"]);
  assert.deepEqual(asks[0].messages, asks[1].messages);
  await accessible(page);
  await shot(page, "chat-compared");
  assert.deepEqual(faults, []);
  await context.close();
});

test("the web is searched where a model can and the switch is on", async () => {
  const { context, page } = await chat();
  assert.equal(await page.getByLabel("Web search").count(), 0, "these models cannot");
  await page.route(/\/models\?type=all$/, async (route) => {
    const answer = await route.fetch();
    const list = await answer.json();
    for (const it of list.data) if (it.model_spec.capabilities) it.model_spec.capabilities.supportsWebSearch = true;
    await route.fulfill({ response: answer, json: list });
  });
  await page.reload();
  await page.getByLabel("Web search").check();
  const body = await say(page, "Hi");
  assert.deepEqual(body.service_parameters, { enable_web_search: "on" });
  await context.close();
});

test("a picture and a file go along, and the code leaves their bytes out", async () => {
  const { context, page, faults } = await chat();
  await page.getByLabel("Attach").setInputFiles(picture);
  await page.getByText("pictor-rocket.png").waitFor();
  await say(page, "What is this?");
  const talk = page.getByTestId("talk");
  await talk.getByText("I see 1 image.").waitFor();
  await talk.getByAltText("Attached image 1").waitFor();
  const report = {
    name: "report.pdf",
    mimeType: "application/pdf",
    buffer: Buffer.from(`%PDF-1.7\n${"%".repeat(400)}`),
  };
  await page.getByLabel("Attach").setInputFiles(report);
  await page.getByText("report.pdf").waitFor();
  await say(page, "And this?");
  await talk.getByText("I read report.pdf.").waitFor();
  const { curl } = await shownCode(page);
  assert.ok(curl.includes("data:application/pdf;base64,<BASE64>"), curl);
  assert.deepEqual(faults, []);
  await context.close();
});
