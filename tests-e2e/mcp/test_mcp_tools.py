"""Calls tools of real MCP servers through `/responses` and `/messages`, with the official SDKs of both APIs."""

import json
import pathlib
import platform
import subprocess

import anthropic
import openai
from scripted import ScriptedHandler, ScriptedService, ScriptedUpstream

HERE = pathlib.Path(__file__).parent
NODE = HERE / "node_modules" / f"node-linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}" / "bin" / "node"
PYTHON = HERE / ".venv" / "bin" / "python"
CONFIG = """
[[provider]]
id = "scripted"
kind = "openai"
base_url = "{url}"

[[model]]
id = "small-text"
type = "text"
provider = "scripted"
tier = "XS"
context_tokens = 8192
capabilities = ["tools"]
price = {{ input_usd_per_million = "1.00", output_usd_per_million = "4.00" }}

[[mcp_server]]
label = "node"
url = "{{node}}"
authorization = "operators-token"
price_per_call_usd = "0.01"

[[mcp_server]]
label = "python"
url = "{{python}}"
free = true
"""
QUESTION = "How warm is it in Oslo?"
USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}


class Handler(ScriptedHandler):
    """A model that calls the first tool once, and then repeats the result."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.upstream.requests.append(body)
        results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
        if results:
            deltas = [{"content": results[-1]}]
        else:
            call = {"name": body["tools"][0]["function"]["name"], "arguments": '{"city": "Oslo"}'}
            deltas = [{"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for delta in deltas:
            self.write({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        finish = "stop" if results else "tool_calls"
        self.write({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        self.write({"choices": [], "usage": USAGE})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def write(self, chunk):
        event = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m", **chunk}
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())


class Upstream(ScriptedUpstream):
    handler = Handler


class McpTools(ScriptedService):
    upstream_class = Upstream
    config = CONFIG

    @classmethod
    def setUpClass(cls):
        node = cls.start_server([NODE, HERE / "server.mjs"])
        python = cls.start_server([PYTHON, HERE / "server.py"])
        cls.config = CONFIG.replace("{{node}}", node).replace("{{python}}", python)
        super().setUpClass()

    @classmethod
    def start_server(cls, line):
        # In another folder: here this folder would hide the package `mcp`.
        process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd="/", env={"PATH": "/usr/bin:/bin"})
        cls.addClassCleanup(process.stdout.close)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.terminate)
        return f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"

    def client(self):
        return openai.OpenAI(base_url=self.server.api, api_key=self.key, max_retries=0)

    def tool(self, label, **fields):
        return {"type": "mcp", "server_label": label, **fields}

    def ask(self, label, **fields):
        tools = [self.tool(label, require_approval="never")]
        return self.client().responses.create(model="small-text", input=QUESTION, tools=tools, **fields)

    def test_responses_with_servers_of_both_generations(self):
        for label, price in (("node", 0.01), ("python", 0)):
            before = self.balance()
            response = self.ask(label)
            self.assertEqual([item.type for item in response.output], ["mcp_list_tools", "mcp_call", "message"])
            self.assertEqual(response.output[0].tools[0].name, "get_weather")
            self.assertIsNone(response.output[1].error)
            self.assertEqual(response.output[1].output, "12 degrees in Oslo")
            self.assertEqual(response.output_text, "12 degrees in Oslo")
            self.assertEqual(response.usage.total_tokens, 50)
            self.assertAlmostEqual(before - self.balance(), price + 2 * (20 * 1e-6 + 5 * 4e-6), places=9)

    def test_a_stream_of_responses(self):
        tools = [self.tool("node", require_approval="never")]
        with self.client().responses.stream(model="small-text", input=QUESTION, tools=tools) as stream:
            kinds = [event.type for event in stream]
            response = stream.get_final_response()
        for kind in (
            "response.mcp_list_tools.completed",
            "response.mcp_call.in_progress",
            "response.mcp_call_arguments.done",
            "response.mcp_call.completed",
        ):
            self.assertIn(kind, kinds)
        self.assertEqual(response.output_text, "12 degrees in Oslo")

    def test_an_approval_with_the_items_as_the_sdk_has_them(self):
        tools = [self.tool("python")]
        first = self.client().responses.create(model="small-text", input=QUESTION, tools=tools)
        request = first.output[-1]
        self.assertEqual(request.type, "mcp_approval_request")
        history = [{"role": "user", "content": QUESTION}, *[item.model_dump() for item in first.output]]
        approval = {"type": "mcp_approval_response", "approval_request_id": request.id, "approve": True}
        second = self.client().responses.create(model="small-text", input=[*history, approval], tools=tools)
        self.assertEqual([item.type for item in second.output], ["mcp_call", "message"])
        self.assertEqual(second.output[0].approval_request_id, request.id)
        self.assertEqual(second.output_text, "12 degrees in Oslo")

    def test_messages(self):
        client = anthropic.Anthropic(base_url=f"{self.server.url}/api", api_key=self.key, max_retries=0)
        body = {
            "model": "small-text",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": QUESTION}],
            "mcp_servers": [{"type": "url", "name": "node"}],
            "tools": [{"type": "mcp_toolset", "mcp_server_name": "node"}],
            "betas": ["mcp-client-2025-11-20"],
        }
        message = client.beta.messages.create(**body)
        kinds = ["mcp_tool_use", "mcp_tool_result", "text"]
        self.assertEqual([block.type for block in message.content], kinds)
        self.assertEqual(message.content[1].content[0].text, "12 degrees in Oslo")
        self.assertEqual(message.stop_reason, "end_turn")
        with client.beta.messages.stream(**body) as stream:
            message = stream.get_final_message()
        self.assertEqual([block.type for block in message.content], kinds)
        self.assertEqual(message.content[0].input, {"city": "Oslo"})
        body["messages"] += [{"role": "assistant", "content": message.content}, {"role": "user", "content": "Sure?"}]
        self.assertEqual(client.beta.messages.create(**body).content[-1].text, "12 degrees in Oslo")
