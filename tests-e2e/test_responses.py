"""Tests of stored and background responses across kills: one charge, streams that go on, and nothing left on disk."""

import decimal
import http.client
import http.server
import json
import os
import threading
import time
import unittest
import urllib.parse

from server import Server
from test_crashes import Engine, send

WAIT_SECONDS_MAX = 60
KILLS = 3
WORDS = 120
SECONDS_PER_WORD = 0.02
PROMPT_TOKENS = 10
SECRET = "the word is xylophone"


class Upstream(http.server.BaseHTTPRequestHandler):
    """A model that speaks slowly."""

    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.asked += 1
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        count = WORDS if "slowly" in json.dumps(body["messages"][-1]) else 3
        words = [f"word{number} " for number in range(count)]
        usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": count, "total_tokens": PROMPT_TOKENS + count}
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(words)}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            return self.answer({**frame(), "object": "chat.completion", "choices": [choice], "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for word in words:
                if WORDS == count:
                    time.sleep(SECONDS_PER_WORD)
                choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
                self.event(json.dumps({**frame(), "choices": [choice]}))
            self.event(json.dumps({**frame(), "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
            self.event(json.dumps({**frame(), "choices": [], "usage": usage}))
            self.event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def event(self, data):
        event = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.flush()

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def frame():
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "x"}


def config(port):
    return f"""
[[provider]]
id = "slow"
kind = "openai"
base_url = "http://127.0.0.1:{port}/v1"

[[model]]
id = "talker"
type = "text"
provider = "slow"
tier = "XS"
context_tokens = 8192
max_completion_tokens = 2048
price = {{ input_usd_per_million = "3.00", output_usd_per_million = "7.00" }}
"""


class Responses(unittest.TestCase):
    kind = Server

    def setUp(self):
        self.engine = Engine(("127.0.0.1", 0), Upstream)
        threading.Thread(target=self.engine.serve_forever, daemon=True).start()
        self.addCleanup(self.engine.server_close)
        self.addCleanup(self.engine.shutdown)
        self.server = self.enterContext(self.kind(config=config(self.engine.server_port)))
        self.server.create_account("speaker")
        self.server.command("accounts", "credit", "speaker", "5")
        self.key = self.server.create_key("admin", account="speaker")

    def call(self, method, path, body=None, status=200):
        body = json.dumps(body) if body is not None else None
        answer, text = send(self.server.api, self.key, method, path, body)
        self.assertEqual(answer.status, status, text)
        return json.loads(text, parse_float=decimal.Decimal)

    def read_events(self, method, path, body=None, most=None):
        """The events of a stream; a broken connection ends it, as does the number of events to read."""
        place = urllib.parse.urlparse(self.server.api)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=WAIT_SECONDS_MAX)
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        events = []
        try:
            connection.request(method, place.path + path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            for line in answer:
                if line.startswith(b"data: {"):
                    events.append(json.loads(line[6:]))
                if most is not None and most <= len(events):
                    break
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        return events

    def wait_for_end(self, name):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < deadline:
            response = self.call("GET", f"/responses/{name}")
            if response["status"] not in ("queued", "in_progress"):
                return response
            time.sleep(0.1)
        self.fail(f"{name} does not end")

    def check_books(self):
        """The rows of the account's usage, after checking that its balance fell by their sum."""
        rows = self.call("GET", "/billing/usage-history")["data"]
        spent = sum(-decimal.Decimal(row["amount"]) for row in rows)
        balance = self.call("GET", "/billing/balance")["balances"]["usd"]
        self.assertEqual(decimal.Decimal(balance), decimal.Decimal(5) - spent)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))
        return rows

    def test_a_response_that_is_killed_runs_again_and_its_stream_goes_on(self):
        body = {"model": "talker", "input": "speak slowly", "background": True, "stream": True}
        events = self.read_events("POST", "/responses", body, most=20)
        self.assertEqual(events[0]["type"], "response.created")
        name = events[0]["response"]["id"]
        for _ in range(KILLS):
            self.server.kill()
            self.server.start_again()
            path = f"/responses/{name}?stream=true&starting_after={events[-1]['sequence_number']}"
            events += self.read_events("GET", path, most=20)
        path = f"/responses/{name}?stream=true&starting_after={events[-1]['sequence_number']}"
        events += self.read_events("GET", path)
        self.assertEqual([event["sequence_number"] for event in events], list(range(len(events))))
        last = events[-1]
        self.assertEqual(last["type"], "response.completed")
        self.assertEqual(self.call("GET", f"/responses/{name}")["output"], last["response"]["output"])
        text = last["response"]["output"][0]["content"][0]["text"]
        self.assertEqual(text, "".join(f"word{number} " for number in range(WORDS)))
        self.assertEqual(self.engine.asked, KILLS + 1)
        rows = self.check_books()
        self.assertEqual(len(rows), 2, rows)
        self.assertEqual(len({row["inferenceDetails"]["requestId"] for row in rows}), 1, rows)

    def test_a_cancelled_response_is_charged_for_what_it_said(self):
        body = {"model": "talker", "input": "speak slowly", "background": True, "stream": True}
        events = self.read_events("POST", "/responses", body, most=30)
        name = events[0]["response"]["id"]
        cancelled = self.call("POST", f"/responses/{name}/cancel", {})
        self.assertEqual(cancelled["status"], "cancelled")
        self.assertEqual(self.call("POST", f"/responses/{name}/cancel", {}), cancelled)
        self.assertTrue(cancelled["output"][0]["content"][0]["text"].startswith("word0 word1 "))
        rows = self.check_books()
        self.assertEqual(len(rows), 2, rows)
        end = self.read_events("GET", f"/responses/{name}?stream=true&starting_after={events[-1]['sequence_number']}")
        self.assertEqual(end[-1]["type"], "response.cancelled")

    def test_what_was_deleted_is_nowhere_on_disk(self):
        body = {"model": "talker", "input": SECRET, "store": True, "instructions": SECRET}
        name = self.call("POST", "/responses", body)["id"]
        conversation = self.call("POST", "/conversations", {"items": [{"role": "user", "content": SECRET}]})["id"]
        queued = self.call("POST", "/responses", {"model": "talker", "input": SECRET, "background": True})["id"]
        self.wait_for_end(queued)
        self.call("DELETE", f"/responses/{name}")
        self.call("DELETE", f"/responses/{queued}")
        self.call("DELETE", f"/conversations/{conversation}")
        self.call("GET", f"/responses/{name}", status=404)
        for folder, _, files in os.walk(self.server.folder):
            for file in files:
                if not os.path.isfile(os.path.join(folder, file)):
                    continue  # The socket for commands.
                with open(os.path.join(folder, file), "rb") as opened:
                    self.assertNotIn(SECRET.encode(), opened.read(), file)
        self.check_books()

    def test_stored_responses_survive_a_kill(self):
        first = self.call("POST", "/responses", {"model": "talker", "input": "I am Ada.", "store": True})
        self.server.kill()
        self.server.start_again()
        self.assertEqual(self.call("GET", f"/responses/{first['id']}"), first)
        body = {"model": "talker", "input": "Who?", "previous_response_id": first["id"]}
        self.assertEqual(self.call("POST", "/responses", body)["previous_response_id"], first["id"])
        self.check_books()


if __name__ == "__main__":
    unittest.main()
