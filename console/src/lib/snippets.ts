// The same call in the languages people use. A key is never written into one, except the one that
// was made a moment ago and is shown anyway.

export interface CallShape {
  method: string;
  path: string;
  body?: unknown;
  form?: Record<string, string>;
  file?: string;
}

export interface Snippet {
  name: string;
  text: string;
}

const KEY = "$TOLLGATE_KEY";

export function curl(base: string, call: CallShape, key = KEY): string {
  const lines = [`curl ${base}/api/v1${call.path}`];
  if (call.method !== "GET" && call.body === undefined && !call.form) lines[0] = `curl -X ${call.method} ${base}/api/v1${call.path}`;
  lines.push(`-H "Authorization: Bearer ${key}"`);
  for (const [name, value] of Object.entries(call.form ?? {})) lines.push(`-F ${name}=${value}`);
  if (call.file) lines.push(`-F file=@${call.file}`);
  if (call.body !== undefined) {
    lines.push('-H "Content-Type: application/json"');
    lines.push(`-d '${JSON.stringify(call.body).replace(/'/g, "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}

/** The call that was just made, in four languages. */
export function anyCall(base: string, call: CallShape): Snippet[] {
  const body = JSON.stringify(call.body ?? {}, null, 2);
  const python = call.file
    ? `import os, requests\n\nanswer = requests.post(\n    "${base}/api/v1${call.path}",\n    headers={"Authorization": f"Bearer {os.environ['TOLLGATE_KEY']}"},\n    data=${JSON.stringify(call.form ?? {})},\n    files={"file": open("${call.file}", "rb")},\n)\nprint(answer.text)`
    : `import os, requests\n\nanswer = requests.${call.method.toLowerCase()}(\n    "${base}/api/v1${call.path}",\n    headers={"Authorization": f"Bearer {os.environ['TOLLGATE_KEY']}"},${call.body === undefined ? "" : `\n    json=${pythonValue(call.body)},`}\n)\nprint(answer.text)`;
  const node = call.file
    ? `import { readFile } from "node:fs/promises";\n\nconst form = new FormData();\n${Object.entries(call.form ?? {}).map(([name, value]) => `form.set("${name}", ${JSON.stringify(value)});\n`).join("")}form.set("file", new Blob([await readFile("${call.file}")]), "${call.file}");\nconst answer = await fetch("${base}/api/v1${call.path}", {\n  method: "POST",\n  headers: { Authorization: \`Bearer \${process.env.TOLLGATE_KEY}\` },\n  body: form,\n});\nconsole.log(await answer.text());`
    : `const answer = await fetch("${base}/api/v1${call.path}", {\n  method: "${call.method}",\n  headers: {\n    Authorization: \`Bearer \${process.env.TOLLGATE_KEY}\`,\n    "Content-Type": "application/json",\n  },${call.body === undefined ? "" : `\n  body: JSON.stringify(${body.replace(/\n/g, "\n  ")}),`}\n});\nconsole.log(await answer.text());`;
  const go = `req, _ := http.NewRequest("${call.method}", "${base}/api/v1${call.path}", strings.NewReader(\`${call.body === undefined ? "" : body}\`))\nreq.Header.Set("Authorization", "Bearer "+os.Getenv("TOLLGATE_KEY"))\nreq.Header.Set("Content-Type", "application/json")\nresp, err := http.DefaultClient.Do(req)`;
  const all = [{ name: "curl", text: curl(base, call) }, { name: "Python", text: python }, { name: "Node", text: node }];
  return call.file ? all : [...all, { name: "Go", text: go }];
}

/** A chat in four languages: with the libraries that people already use. */
export function chatCall(base: string, body: { model: string; messages: unknown[] } & Record<string, unknown>): Snippet[] {
  const { model, messages, stream, ...rest } = body;
  const extra = Object.entries(rest).map(([name, value]) => `\n    ${name}=${pythonValue(value)},`).join("");
  const jsBody = JSON.stringify({ model, messages, ...rest, stream: true }, null, 2);
  return [
    { name: "curl", text: curl(base, { method: "POST", path: "/chat/completions", body }) },
    {
      name: "Python",
      text: `import os\nfrom openai import OpenAI\n\nclient = OpenAI(base_url="${base}/api/v1", api_key=os.environ["TOLLGATE_KEY"])\nstream = client.chat.completions.create(\n    model="${model}",\n    messages=${pythonValue(messages)},${extra}\n    stream=True,\n)\nfor chunk in stream:\n    if chunk.choices:\n        print(chunk.choices[0].delta.content or "", end="")`,
    },
    {
      name: "Node",
      text: `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "${base}/api/v1", apiKey: process.env.TOLLGATE_KEY });\nconst stream = await client.chat.completions.create(${jsBody});\nfor await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");`,
    },
    {
      name: "AI SDK",
      text: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";\nimport { streamText } from "ai";\n\nconst tollgate = createOpenAICompatible({ name: "tollgate", baseURL: "${base}/api/v1", apiKey: process.env.TOLLGATE_KEY });\nconst { textStream } = streamText({ model: tollgate("${model}"), messages: ${JSON.stringify(messages)} });\nfor await (const text of textStream) process.stdout.write(text);`,
    },
  ];
}

/** How to use a key, for whoever has just made one. */
export function keySnippets(base: string, key: string, model: string): Snippet[] {
  const messages = [{ role: "user", content: "Say hello." }];
  return [
    { name: "curl", text: curl(base, { method: "POST", path: "/chat/completions", body: { model, messages } }, key) },
    { name: "OpenAI Python", text: `from openai import OpenAI\n\nclient = OpenAI(\n    base_url="${base}/api/v1",\n    api_key="${key}",\n)\nanswer = client.chat.completions.create(\n    model="${model}",\n    messages=[{"role": "user", "content": "Say hello."}],\n)\nprint(answer.choices[0].message.content)` },
    { name: "OpenAI Node", text: `import OpenAI from "openai";\n\nconst client = new OpenAI({\n  baseURL: "${base}/api/v1",\n  apiKey: "${key}",\n});\nconst answer = await client.chat.completions.create({\n  model: "${model}",\n  messages: [{ role: "user", content: "Say hello." }],\n});\nconsole.log(answer.choices[0].message.content);` },
    { name: "AI SDK", text: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";\nimport { generateText } from "ai";\n\nconst tollgate = createOpenAICompatible({\n  name: "tollgate",\n  baseURL: "${base}/api/v1",\n  apiKey: "${key}",\n});\nconst { text } = await generateText({ model: tollgate("${model}"), prompt: "Say hello." });` },
    { name: "LangChain", text: `from langchain_openai import ChatOpenAI\n\nllm = ChatOpenAI(\n    base_url="${base}/api/v1",\n    api_key="${key}",\n    model="${model}",\n)\nprint(llm.invoke("Say hello.").content)` },
    { name: "Environment", text: `export OPENAI_BASE_URL="${base}/api/v1"\nexport OPENAI_API_KEY="${key}"` },
  ];
}

function pythonValue(value: unknown): string {
  return JSON.stringify(value, null, 4)
    .replace(/\n/g, "\n    ")
    .replace(/(?<=[:\[,\s])true(?=[,\s\]}]|$)/g, "True")
    .replace(/(?<=[:\[,\s])false(?=[,\s\]}]|$)/g, "False")
    .replace(/(?<=[:\[,\s])null(?=[,\s\]}]|$)/g, "None");
}
