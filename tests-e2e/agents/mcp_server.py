"""A small MCP server on standard input and output, with one tool.

It speaks the generation of the protocol that begins with `initialize`; agents of the newer one fall back to it.
"""

import json
import sys

TOOL = {
    "name": "whisper",
    "description": "Repeats a text in lower case.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(call):
    if call["method"] == "initialize":
        return {
            "protocolVersion": call["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tiny", "version": "1"},
        }
    if call["method"] == "tools/list":
        return {"tools": [TOOL]}
    if call["method"] == "tools/call":
        return {"content": [{"type": "text", "text": call["params"]["arguments"]["text"].lower()}]}
    return {} if call["method"] == "ping" else None


def main():
    for line in sys.stdin:
        call = json.loads(line)
        if "id" not in call:
            continue
        result = answer(call)
        outcome = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **outcome}), flush=True)


if __name__ == "__main__":
    main()
