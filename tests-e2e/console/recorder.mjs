// Runs the code that the console shows for a call, and records its requests.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const HERE = dirname(fileURLToPath(import.meta.url));
const RUN_MS_MAX = 60_000;
const run = promisify(execFile);

/** A proxy in front of the service that records requests. */
export async function recorder(service) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const type = request.headers["content-type"];
    const headers = { authorization: request.headers.authorization, "content-type": type };
    const answer = await fetch(service + request.url, { method: request.method, headers, body });
    asked.push({ method: request.method, path: request.url, status: answer.status, sent: await read(type, body) });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => new Promise((done) => server.close(done));
  return { url: `http://127.0.0.1:${server.address().port}`, asked, close };
}

/** Parses a body: JSON, or a form with its fields and the names and sizes of its files. */
async function read(type, body) {
  if (type === "application/json") return JSON.parse(body.toString());
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const fields = {};
  for (const [name, value] of form) {
    fields[name] = typeof value === "string" ? value : { name: value.name, bytes: value.size };
  }
  return fields;
}

/** Makes the page record the forms that it sends, which Playwright cannot read. */
export async function noteForms(context) {
  await context.addInitScript(() => {
    const send = globalThis.fetch;
    globalThis.fetch = (path, options) => {
      if (options?.body instanceof FormData) {
        globalThis.sentForm = {};
        for (const [name, value] of options.body) {
          globalThis.sentForm[name] = typeof value === "string" ? value : { name: value.name, bytes: value.size };
        }
      }
      return send(path, options);
    };
  });
}

/** The shown code by language. */
export async function shownCode(page) {
  const shown = page.locator("details", { hasText: "View code" });
  if (!(await shown.getAttribute("open").then((it) => it !== null))) await shown.locator("summary").first().click();
  const code = {};
  for (const tab of await shown.getByRole("tab").all()) {
    await tab.click();
    code[await tab.textContent()] = await shown.locator("pre").textContent();
  }
  return code;
}

/**
 * Runs each shown program and returns its request. Without an installed Go, the request is parsed
 * from the Go code.
 */
export async function runShown(code, { url, key, files = {} }) {
  const recorded = await recorder(url);
  const folder = await mkdtemp(join(HERE, ".code-"));
  try {
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    const asked = {};
    for (const [language, text] of Object.entries(code)) {
      const program = text.replaceAll(url, recorded.url);
      if (program === text) throw new Error(`the ${language} code does not name ${url}:\n${text}`);
      if (language === "Go" && !(await hasGo())) {
        asked.Go = readGo(text);
        continue;
      }
      await start(language, program, folder, key);
      asked[language] = recorded.asked.pop();
    }
    return asked;
  } finally {
    await recorded.close();
    await rm(folder, { recursive: true });
  }
}

async function start(language, program, folder, key) {
  const file = { Python: "main.py", Node: "main.mjs", Go: "main.go" }[language];
  if (file) await writeFile(join(folder, file), program);
  const line = {
    curl: ["bash", ["-c", `set -e; ${program.replace(/^curl /, "curl --fail-with-body -sS ")}`]],
    Python: [process.env.PYTHON, [file]],
    Node: ["node", [file]],
    Go: ["go", ["run", file]],
  }[language];
  const environment = { ...process.env, TOLLGATE_KEY: key };
  await run(...line, { cwd: folder, env: environment, timeout: RUN_MS_MAX });
}

const hasGo = () =>
  run("go", ["version"]).then(
    () => true,
    () => false,
  );

function readGo(text) {
  const [, method, address] = text.match(/http\.NewRequest\("(\w+)", "([^"]+)"/);
  const call = { method, path: new URL(address).pathname, status: 200 };
  const body = text.match(/body := `([\s\S]*)`\n\trequest/);
  if (body) return { ...call, sent: JSON.parse(body[1].replaceAll('` + "`" + `', "`")) };
  const sent = {};
  for (const [, name, value] of text.matchAll(/WriteField\("(\w+)", (".*")\)/g)) sent[name] = JSON.parse(value);
  for (const [, name, file] of text.matchAll(/addFile\(form, "(\w+)", (".*")\)/g))
    sent[name] = { name: JSON.parse(file) };
  return { ...call, sent };
}
