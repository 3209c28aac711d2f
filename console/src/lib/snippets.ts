// Code snippets of a call in several languages. They contain no key, except for a key that was just
// created and is shown anyway.

export interface CallShape {
  method: string;
  path: string;
  body?: unknown;
  form?: Record<string, string>;
  /** File names by form field. */
  files?: Record<string, string>;
}

export interface Snippet {
  name: string;
  text: string;
}

const KEY = "$TOLLGATE_KEY";
/** Longer base64 texts are left out, because they would hide the rest of the call. */
const DATA_CHARS_MAX = 200;

/** Replaces the bytes of images and files in a body with a placeholder. */
export function withoutData(value: unknown): unknown {
  if (typeof value === "string" && value.length > DATA_CHARS_MAX)
    return value
      .replace(/^(data:[\w/+.-]+;base64,)[A-Za-z0-9+/=]+$/, "$1<BASE64>")
      .replace(/^[A-Za-z0-9+/=]{200,}$/, "<BASE64>");
  if (Array.isArray(value)) return value.map(withoutData);
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, withoutData(it)]));
  return value;
}

export function curl(base: string, call: CallShape, key = KEY): string {
  const lines = [`curl ${base}/v1${call.path}`];
  const hasBody = call.body !== undefined || call.form || call.files;
  if (call.method !== "GET" && !hasBody) lines[0] = `curl -X ${call.method} ${base}/v1${call.path}`;
  lines.push(`-H "Authorization: Bearer ${key}"`);
  // `-F` would read a value that begins with `@` or `<` from a file.
  for (const [name, value] of Object.entries(call.form ?? {})) lines.push(`--form-string ${shell(`${name}=${value}`)}`);
  for (const [name, file] of Object.entries(call.files ?? {})) lines.push(`-F ${shell(`${name}=@${file}`)}`);
  if (call.body !== undefined) {
    lines.push('-H "Content-Type: application/json"');
    lines.push(`-d ${shell(JSON.stringify(call.body))}`);
  }
  return lines.join(" \\\n  ");
}

/** The last call in four languages. */
export function anyCall(base: string, made: CallShape): Snippet[] {
  const call = { ...made, body: withoutData(made.body) };
  const url = `${base}/v1${call.path}`;
  const [python, node, go] = call.files
    ? [pythonForm(url, call), nodeForm(url, call), goForm(url, call)]
    : [pythonJson(url, call), nodeJson(url, call), goJson(url, call)];
  return [
    { name: "curl", text: curl(base, call) },
    { name: "Python", text: python },
    { name: "Node", text: node },
    { name: "Go", text: go },
  ];
}

/** A chat in four languages, with OpenAI's library where it is common. */
export function chatCall(
  base: string,
  made: { model: string; messages: unknown[] } & Record<string, unknown>,
): Snippet[] {
  const body = withoutData(made) as typeof made;
  const { model, messages, stream, ...rest } = body;
  // OpenAI's Python client takes other parameters in `extra_body`.
  const { service_parameters, ...known } = rest;
  const extra =
    Object.entries(known)
      .map(([name, value]) => `\n    ${name}=${pythonValue(value)},`)
      .join("") + (service_parameters ? `\n    extra_body=${pythonValue({ service_parameters })},` : "");
  const jsBody = JSON.stringify({ model, messages, ...rest, stream: true }, null, 2);
  return [
    { name: "curl", text: curl(base, { method: "POST", path: "/chat/completions", body }) },
    {
      name: "Python",
      text: `import os\nfrom openai import OpenAI\n\nclient = OpenAI(base_url="${base}/v1", api_key=os.environ["TOLLGATE_KEY"])\nstream = client.chat.completions.create(\n    model=${JSON.stringify(model)},\n    messages=${pythonValue(messages)},${extra}\n    stream=True,\n)\nfor chunk in stream:\n    if chunk.choices:\n        print(chunk.choices[0].delta.content or "", end="")`,
    },
    {
      name: "Node",
      text: `import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "${base}/v1", apiKey: process.env.TOLLGATE_KEY });\nconst stream = await client.chat.completions.create(${jsBody});\nfor await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");`,
    },
    { name: "Go", text: goJson(`${base}/v1/chat/completions`, { method: "POST", path: "/chat/completions", body }) },
  ];
}

/** Examples with a newly created key. */
export function keySnippets(base: string, key: string, model: string): Snippet[] {
  const messages = [{ role: "user", content: "Say hello." }];
  return [
    { name: "curl", text: curl(base, { method: "POST", path: "/chat/completions", body: { model, messages } }, key) },
    {
      name: "OpenAI Python",
      text: `from openai import OpenAI\n\nclient = OpenAI(\n    base_url="${base}/v1",\n    api_key="${key}",\n)\nanswer = client.chat.completions.create(\n    model="${model}",\n    messages=[{"role": "user", "content": "Say hello."}],\n)\nprint(answer.choices[0].message.content)`,
    },
    {
      name: "OpenAI Node",
      text: `import OpenAI from "openai";\n\nconst client = new OpenAI({\n  baseURL: "${base}/v1",\n  apiKey: "${key}",\n});\nconst answer = await client.chat.completions.create({\n  model: "${model}",\n  messages: [{ role: "user", content: "Say hello." }],\n});\nconsole.log(answer.choices[0].message.content);`,
    },
    {
      name: "AI SDK",
      text: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible";\nimport { generateText } from "ai";\n\nconst tollgate = createOpenAICompatible({\n  name: "tollgate",\n  baseURL: "${base}/v1",\n  apiKey: "${key}",\n});\nconst { text } = await generateText({ model: tollgate("${model}"), prompt: "Say hello." });\nconsole.log(text);`,
    },
    {
      name: "LangChain",
      text: `from langchain_openai import ChatOpenAI\n\nllm = ChatOpenAI(\n    base_url="${base}/v1",\n    api_key="${key}",\n    model="${model}",\n)\nprint(llm.invoke("Say hello.").content)`,
    },
    { name: "Environment", text: `export OPENAI_BASE_URL="${base}/v1"\nexport OPENAI_API_KEY="${key}"` },
  ];
}

const shell = (text: string): string => `'${text.replace(/'/g, "'\\''")}'`;

/** Converts JSON to a Python literal; strings are left unchanged. */
function pythonValue(value: unknown): string {
  const names: Record<string, string> = { true: "True", false: "False", null: "None" };
  return JSON.stringify(value, null, 4)
    .replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (it) => names[it] ?? it)
    .replace(/\n/g, "\n    ");
}

const PYTHON_KEY = `headers={"Authorization": f"Bearer {os.environ['TOLLGATE_KEY']}"},`;
const NODE_KEY = "Authorization: `Bearer ${process.env.TOLLGATE_KEY}`";

function pythonJson(url: string, call: CallShape): string {
  const body = call.body === undefined ? "" : `\n    json=${pythonValue(call.body)},`;
  return `import os, requests\n\nanswer = requests.${call.method.toLowerCase()}(\n    "${url}",\n    ${PYTHON_KEY}${body}\n)\nprint(answer.text)`;
}

function pythonForm(url: string, call: CallShape): string {
  const files = Object.entries(call.files ?? {})
    .map(([name, file]) => `"${name}": open(${JSON.stringify(file)}, "rb")`)
    .join(", ");
  return `import os, requests\n\nanswer = requests.post(\n    "${url}",\n    ${PYTHON_KEY}\n    data=${pythonValue(call.form ?? {})},\n    files={${files}},\n)\nprint(answer.text)`;
}

function nodeJson(url: string, call: CallShape): string {
  const body =
    call.body === undefined
      ? ""
      : `\n  body: JSON.stringify(${JSON.stringify(call.body, null, 2).replace(/\n/g, "\n  ")}),`;
  return `const answer = await fetch("${url}", {\n  method: "${call.method}",\n  headers: {\n    ${NODE_KEY},\n    "Content-Type": "application/json",\n  },${body}\n});\nconsole.log(await answer.text());`;
}

function nodeForm(url: string, call: CallShape): string {
  const fields = Object.entries(call.form ?? {})
    .map(([name, value]) => `form.set("${name}", ${JSON.stringify(value)});\n`)
    .join("");
  const files = Object.entries(call.files ?? {})
    .map(
      ([name, file]) =>
        `form.set("${name}", new Blob([await readFile(${JSON.stringify(file)})]), ${JSON.stringify(file)});\n`,
    )
    .join("");
  return `import { readFile } from "node:fs/promises";\n\nconst form = new FormData();\n${fields}${files}const answer = await fetch("${url}", {\n  method: "POST",\n  headers: { ${NODE_KEY} },\n  body: form,\n});\nconsole.log(await answer.text());`;
}

const GO_SEND = `	request.Header.Set("Authorization", "Bearer "+os.Getenv("TOLLGATE_KEY"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	io.Copy(os.Stdout, answer.Body)
}`;

function goJson(url: string, call: CallShape): string {
  const body = call.body === undefined ? "" : JSON.stringify(call.body, null, 2);
  // A raw string in Go cannot contain a backtick.
  const text = `\`${body.replace(/`/g, '` + "`" + `')}\``;
  return `package main\n\nimport (\n\t"io"\n\t"net/http"\n\t"os"\n\t"strings"\n)\n\nfunc main() {\n\tbody := ${text}\n\trequest, err := http.NewRequest("${call.method}", "${url}", strings.NewReader(body))\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\trequest.Header.Set("Content-Type", "application/json")\n${GO_SEND}`;
}

function goForm(url: string, call: CallShape): string {
  const fields = Object.entries(call.form ?? {})
    .map(([name, value]) => `\tform.WriteField("${name}", ${JSON.stringify(value)})\n`)
    .join("");
  const files = Object.entries(call.files ?? {})
    .map(([name, file]) => `\taddFile(form, "${name}", ${JSON.stringify(file)})\n`)
    .join("");
  return `package main\n\nimport (\n\t"bytes"\n\t"io"\n\t"mime/multipart"\n\t"net/http"\n\t"os"\n)\n\nfunc addFile(form *multipart.Writer, field, name string) {\n\tfile, err := os.Open(name)\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tdefer file.Close()\n\tpart, _ := form.CreateFormFile(field, name)\n\tio.Copy(part, file)\n}\n\nfunc main() {\n\tvar body bytes.Buffer\n\tform := multipart.NewWriter(&body)\n${fields}${files}\tform.Close()\n\trequest, err := http.NewRequest("POST", "${url}", &body)\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\trequest.Header.Set("Content-Type", form.FormDataContentType())\n${GO_SEND}`;
}
