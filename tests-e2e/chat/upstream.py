"""A scripted upstream with OpenAI's protocol.

The request alone determines the response, so that a test chooses it by its prompt: `slow` never
ends, `break off` breaks the connection, `reject` is refused, `overloaded` fails with an overload
error the first time. Tools, a JSON schema, images and tool results get answers as from a model;
anything else gets a greeting.
"""

import json
import threading
import time

from scripted import ScriptedHandler, ScriptedUpstream

GREETING = "Hello from the upstream."
CITY = {"city": "Paris", "population": 2100000}
PROMPT_TOKENS = 20
CACHED_TOKENS = 4
EMBEDDING_INPUTS_MAX = 2
SLOW_WORDS_MAX = 600
SLOW_SECONDS_PER_WORD = 0.02


class Handler(ScriptedHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        upstream = self.server.upstream
        upstream.requests.append(body)
        if self.path == "/v1/embeddings":
            return self.embed(body)
        if self.path == "/v1/rerank":
            return self.rank(body)
        if self.path == "/v1/moderations":
            return self.moderate(body)
        prompt = prompt_of(body)
        if prompt == "reject":
            return self.send(400, {"error": {"message": "The upstream rejects this.", "type": "bad"}})
        if prompt == "overloaded" and not upstream.was_overloaded.is_set():
            upstream.was_overloaded.set()
            return self.send(429, {"error": {"message": "busy"}}, {"retry-after": "1"})
        if self.path == "/v1/completions":
            return self.complete(body, prompt)
        if body.get("stream"):
            return self.stream(prompt, deltas_of(body, prompt))
        return self.send(200, completion(deltas_of(body, prompt)))

    def embed(self, body):
        inputs = body["input"]
        if EMBEDDING_INPUTS_MAX < len(inputs):
            return self.send(400, {"error": {"message": f"{len(inputs)} inputs are too many"}})
        data = [
            {"object": "embedding", "index": index, "embedding": [len(text), 0.5, -0.25]}
            for index, text in enumerate(inputs)
        ]
        tokens = sum(len(text) for text in inputs)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        self.send(200, {"object": "list", "model": body["model"], "data": data, "usage": usage})

    def rank(self, body):
        """Scores each document by the words that it shares with the query; tokens are words."""
        query = set(body["query"].split())
        pairs = enumerate(set(text.split()) for text in body["documents"])
        results = [{"index": index, "relevance_score": len(query & words) / len(query)} for index, words in pairs]
        tokens = sum(len(body["query"].split()) + len(text.split()) for text in body["documents"])
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        self.send(200, {"id": "rerank-1", "model": body["model"], "results": results, "usage": usage})

    def moderate(self, body):
        """Flags every text with the word `hit`."""
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        texts = [" ".join(part["text"] for part in texts)] if isinstance(texts[0], dict) else texts
        flags = ["hit" in text for text in texts]
        results = [
            {"flagged": flag, "categories": {"violence": flag}, "category_scores": {"violence": float(flag)}}
            for flag in flags
        ]
        self.send(200, {"id": "modr-1", "model": body["model"], "results": results})

    def complete(self, body, prompt):
        """Continues a text with its own last word; the text after it is reported as known."""
        if isinstance(prompt, list):
            return self.complete_all(prompt)
        words = [" ", prompt.split()[-1]]
        if body.get("suffix"):
            words += [" before ", body["suffix"]]
        frame = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "x"}
        if not body.get("stream"):
            choice = {"index": 0, "text": "".join(words), "finish_reason": "stop", "logprobs": None}
            return self.send(200, {**frame, "choices": [choice], "usage": usage_of(words)})
        events = [{**frame, "choices": [{"index": 0, "text": word}]} for word in words]
        last = {"index": 0, "text": "", "finish_reason": "stop"}
        events.append({**frame, "choices": [last], "usage": usage_of(words)})
        self.begin_stream()
        for event in events:
            self.event(json.dumps(event))
        self.end_stream()

    def complete_all(self, prompts):
        """Continues each text with its own last word."""
        texts = [f" {prompt.split()[-1]}" for prompt in prompts]
        choices = [
            {"index": index, "text": text, "finish_reason": "stop", "logprobs": None}
            for index, text in enumerate(texts)
        ]
        frame = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "x"}
        self.send(200, {**frame, "choices": choices, "usage": usage_of(texts)})

    def stream(self, prompt, deltas):
        self.begin_stream()
        try:
            for number, delta in enumerate(deltas):
                if prompt == "break off" and number == 3:
                    self.close_connection = True
                    return
                if prompt == "slow":
                    time.sleep(SLOW_SECONDS_PER_WORD)
                self.event(json.dumps(chunk([{"index": 0, "delta": delta, "finish_reason": None}])))
            finish = {"index": 0, "delta": {}, "finish_reason": finish_of(deltas)}
            self.event(json.dumps(chunk([finish])))
            self.event(json.dumps({**chunk([]), "usage": usage_of(deltas)}))
            self.end_stream()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            self.server.upstream.hangups.release()

    def begin_stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def event(self, data):
        event = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.flush()

    def end_stream(self):
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")


class Upstream(ScriptedUpstream):
    handler = Handler

    def __enter__(self):
        self.was_overloaded = threading.Event()
        return super().__enter__()


def prompt_of(body):
    """The last message of the user."""
    if "prompt" in body:
        return body["prompt"]
    said = [message["content"] for message in body["messages"] if message["role"] == "user"]
    last = said[-1]
    if isinstance(last, str):
        return last
    return " ".join(part["text"] for part in last if part["type"] == "text")


def deltas_of(body, prompt):
    """The pieces of the answer."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return words(f"The tool says: {last['content']}")
    if body.get("tools"):
        return tool_call(body["tools"][0]["function"]["name"])
    if body.get("response_format", {}).get("type") == "json_schema":
        return words(json.dumps(CITY))
    if isinstance(last["content"], list):
        files = [part["file"]["filename"] for part in last["content"] if part["type"] == "file"]
        if files:
            return words(f"I read {files[0]}.")
        images = sum(part["type"] == "image_url" for part in last["content"])
        if 0 < images:
            return words(f"I see {images} image.")
    if prompt == "think":
        return [{"role": "assistant", "reasoning_content": "Hm."}, *words(GREETING)]
    if prompt == "slow":
        return [{"content": f"{number} "} for number in range(SLOW_WORDS_MAX)]
    return words(GREETING)


def words(text):
    pieces = text.split(" ")
    spaced = [piece if number == 0 else f" {piece}" for number, piece in enumerate(pieces)]
    return [{"role": "assistant", "content": ""}, *({"content": piece} for piece in spaced)]


def tool_call(name):
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": ""}}
    pieces = ['{"city":', ' "Paris"}']
    more = ({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces)
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, *more]


def finish_of(deltas):
    return "tool_calls" if any("tool_calls" in delta for delta in deltas) else "stop"


def usage_of(deltas):
    return {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": len(deltas),
        "total_tokens": PROMPT_TOKENS + len(deltas),
        "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS},
    }


def chunk(choices):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "upstream-name",
        "choices": choices,
    }


def completion(deltas):
    message = {"role": "assistant", "content": "".join(delta.get("content") or "" for delta in deltas)}
    thoughts = "".join(delta.get("reasoning_content", "") for delta in deltas)
    if thoughts:
        message["reasoning_content"] = thoughts
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    if calls:
        arguments = "".join(call["function"]["arguments"] for call in calls)
        function = {"name": calls[0]["function"]["name"], "arguments": arguments}
        message["content"] = None
        message["tool_calls"] = [{"id": calls[0]["id"], "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": finish_of(deltas)}
    return {**chunk([choice]), "object": "chat.completion", "usage": usage_of(deltas)}
