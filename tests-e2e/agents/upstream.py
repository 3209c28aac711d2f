"""Scripted upstreams with OpenAI's chat protocol and with Anthropic's Messages."""

import dataclasses
import json

from scripted import ScriptedHandler, ScriptedUpstream

from agents.script import ANSWER_TOKENS, PROMPT_TOKENS, Turn, is_overloaded, plan_answer

OVERLOAD_HEADERS = {"retry-after": "1"}


@dataclasses.dataclass
class UpstreamRequest:
    path: str
    headers: dict
    raw: bytes

    @property
    def body(self):
        return json.loads(self.raw)


class AgentHandler(ScriptedHandler):
    disable_nagle_algorithm = True

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.upstream.requests.append(UpstreamRequest(self.path, headers, raw))
        self.answer(json.loads(raw))

    def stream(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for event in events:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class ChatHandler(AgentHandler):
    """OpenAI's chat completions."""

    def answer(self, body):
        turns = [Turn(message["role"], text_of(message.get("content"))) for message in body["messages"]]
        if is_overloaded(turns):
            return self.send(503, {"error": {"message": "busy", "type": "server_error"}}, OVERLOAD_HEADERS)
        offered = {tool["function"]["name"] for tool in body.get("tools", [])}
        planned = plan_answer(turns, offered)
        if not body.get("stream"):
            return self.send(200, chat_completion(planned))
        self.stream(b"data: %s\n\n" % event for event in chat_events(planned))


class MessagesHandler(AgentHandler):
    """Anthropic's Messages."""

    def answer(self, body):
        if self.path.startswith("/v1/messages/count_tokens"):
            return self.send(200, {"input_tokens": len(json.dumps(body)) // 4})
        turns = [turn for message in body["messages"] for turn in turns_of(message)]
        if is_overloaded(turns):
            error = {"type": "overloaded_error", "message": "Overloaded"}
            return self.send(529, {"type": "error", "error": error, "request_id": "req_1"}, OVERLOAD_HEADERS)
        offered = {tool["name"] for tool in body.get("tools", [])}
        planned = plan_answer(turns, offered)
        if not body.get("stream"):
            return self.send(200, message(planned, body["model"]))
        events = message_events(planned, body["model"])
        self.stream(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


class ChatUpstream(ScriptedUpstream):
    handler = ChatHandler


class MessagesUpstream(ScriptedUpstream):
    handler = MessagesHandler


def text_of(content):
    """The text of a content, which is a string or a list of parts."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def turns_of(message):
    """The turns in a message of Anthropic's protocol, whose blocks may be tool results."""
    content = message["content"]
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for block in blocks:
        if block["type"] == "tool_result":
            yield Turn("tool", text_of(block.get("content")))
        elif block["type"] == "text":
            yield Turn(message["role"], block["text"])


def chat_message(planned):
    if not planned.tool:
        return {"role": "assistant", "content": planned.text}
    function = {"name": planned.tool, "arguments": planned.arguments}
    call = {"index": 0, "id": planned.call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def chat_frame(kind, choices):
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "scripted", "choices": choices}


CHAT_USAGE = {
    "prompt_tokens": PROMPT_TOKENS,
    "completion_tokens": ANSWER_TOKENS,
    "total_tokens": PROMPT_TOKENS + ANSWER_TOKENS,
}


def chat_completion(planned):
    choice = {"index": 0, "message": chat_message(planned), "finish_reason": chat_finish(planned)}
    return {**chat_frame("chat.completion", [choice]), "usage": CHAT_USAGE}


def chat_finish(planned):
    return "tool_calls" if planned.tool else "stop"


def chat_events(planned):
    kind = "chat.completion.chunk"
    yield json.dumps(chat_frame(kind, [{"index": 0, "delta": chat_message(planned), "finish_reason": None}])).encode()
    end = {"index": 0, "delta": {}, "finish_reason": chat_finish(planned)}
    yield json.dumps(chat_frame(kind, [end])).encode()
    yield json.dumps({**chat_frame(kind, []), "usage": CHAT_USAGE}).encode()
    yield b"[DONE]"


def block(planned):
    if not planned.tool:
        return {"type": "text", "text": planned.text}
    return {
        "type": "tool_use",
        "id": f"toolu_{planned.call_id}",
        "name": planned.tool,
        "input": json.loads(planned.arguments),
    }


def message_usage(answer_tokens):
    return {
        "input_tokens": PROMPT_TOKENS,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": answer_tokens,
    }


def message(planned, model):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block(planned)],
        "stop_reason": message_stop(planned),
        "stop_sequence": None,
        "usage": message_usage(ANSWER_TOKENS),
    }


def message_stop(planned):
    return "tool_use" if planned.tool else "end_turn"


def message_events(planned, model):
    start = {**message(planned, model), "content": [], "stop_reason": None, "usage": message_usage(1)}
    yield {"type": "message_start", "message": start}
    opened = {**block(planned), "input": {}} if planned.tool else {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": opened}
    yield {"type": "ping"}
    delta = {"type": "text_delta", "text": planned.text}
    if planned.tool:
        delta = {"type": "input_json_delta", "partial_json": planned.arguments}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": message_stop(planned), "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": ANSWER_TOKENS}}
    yield {"type": "message_stop"}
