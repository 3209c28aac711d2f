"""A scripted MCP server with one tool, for requests that stand alone."""

import json

from scripted import ScriptedHandler, ScriptedUpstream

TOOL = {
    "name": "get_weather",
    "description": "The temperature of a city.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
RESULTS = {
    "server/discover": {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
    },
    "tools/list": {"resultType": "complete", "tools": [TOOL]},
}


class McpHandler(ScriptedHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send(200, {"jsonrpc": "2.0", "id": request["id"], "result": RESULTS[request["method"]]})


class ScriptedMcpServer(ScriptedUpstream):
    handler = McpHandler
