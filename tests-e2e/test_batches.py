"""Tests of batches: each line charged once through kills, in bounded memory, behind other calls."""

import decimal
import http.server
import json
import os
import random
import re
import sqlite3
import threading
import time
import unittest

from server import Server
from test_crashes import Engine, send

KILLS = int(os.environ.get("KILLS", "8"))
LINES = int(os.environ.get("BATCH_LINES", "1500"))
# Far more in one go: the memory of 50,000 lines is measured with BATCH_LINES=50000.
MEMORY_MB_MAX = 300
CREDIT = decimal.Decimal("50")
INPUT, OUTPUT = decimal.Decimal("3") / 10**6, decimal.Decimal("7") / 10**6
HALF = decimal.Decimal("0.5")
NANO = decimal.Decimal("0.000000001")
WAIT_SECONDS_MAX = int(os.environ.get("BATCH_SECONDS", "240"))
URL = "/v1/chat/completions"


class Upstream(http.server.BaseHTTPRequestHandler):
    """An engine whose answer and tokens depend on the prompt only, so that they can be counted again."""

    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    pause = 0.0

    def do_POST(self):
        self.server.asked += 1
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number = int(re.search(r"\d+", sent["messages"][-1]["content"]).group())
        time.sleep(self.pause)
        usage = tokens_of(number)
        usage["total_tokens"] = sum(usage.values())
        words = "one two three four five six seven eight nine ten"
        message = {"role": "assistant", "content": f"{number} {words}"}
        body = json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": "upstream",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": usage,
            }
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def tokens_of(number):
    return {"prompt_tokens": 10 + number % 7, "completion_tokens": 5 + number % 5}


def line_cost(number):
    """The price of a line, rounded to a nano-dollar, half to even, as on a bill."""
    tokens = tokens_of(number)
    cost = tokens["prompt_tokens"] * INPUT + tokens["completion_tokens"] * OUTPUT
    return (cost * HALF).quantize(NANO, decimal.ROUND_HALF_EVEN)


def config(port):
    return f"""
[[provider]]
id = "engine"
kind = "openai"
base_url = "http://127.0.0.1:{port}/v1"

[[model]]
id = "small"
type = "text"
provider = "engine"
tier = "XS"
context_tokens = 8192
price = {{ input_usd_per_million = "3", output_usd_per_million = "7" }}
"""


def chat(number):
    return {"model": "small", "messages": [{"role": "user", "content": f"count {number}"}], "max_tokens": 50}


def lines(count):
    def line(number):
        return json.dumps({"custom_id": f"line-{number}", "method": "POST", "url": URL, "body": chat(number)})

    return "\n".join(line(number) for number in range(count)).encode()


class Batches(unittest.TestCase):
    def setUp(self):
        engine = Engine(("127.0.0.1", 0), Upstream)
        Upstream.pause = 0.0
        self.engine = engine
        threading.Thread(target=engine.serve_forever, daemon=True).start()
        self.addCleanup(engine.server_close)
        self.addCleanup(engine.shutdown)
        self.server = self.enterContext(Server(config=config(engine.server_port)))
        self.server.create_account("maker")
        self.server.command("accounts", "credit", "maker", str(CREDIT))
        self.key = self.server.create_key("admin", account="maker")

    def upload(self, content):
        head = b'--x\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        head += b'--x\r\ncontent-disposition: form-data; name="file"; filename="lines.jsonl"\r\n\r\n'
        kind = {"content-type": "multipart/form-data; boundary=x"}
        answer, text = send(self.server.api, self.key, "POST", "/files", head + content + b"\r\n--x--\r\n", kind)
        self.assertEqual(answer.status, 200, text)
        return json.loads(text)["id"]

    def start(self, content):
        order = {"input_file_id": self.upload(content), "endpoint": URL, "completion_window": "24h"}
        answer, text = send(self.server.api, self.key, "POST", "/batches", json.dumps(order))
        self.assertEqual(answer.status, 200, text)
        return json.loads(text)["id"]

    def get(self, path):
        while True:
            answer, text = send(self.server.api, self.key, "GET", path)
            if answer.status != 429:
                self.assertEqual(answer.status, 200, text)
                return text
            time.sleep(int(answer.headers["retry-after"]))

    def wait(self, batch, step=None):
        """Waits until the batch has ended; calls `step` in between."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < deadline:
            found = json.loads(self.get(f"/batches/{batch}"))
            if found["status"] not in ("validating", "in_progress", "finalizing", "cancelling"):
                return found
            if step:
                step()
            time.sleep(0.2)
        self.fail(f"the batch has not ended: {found}")

    def check_results(self, batch, count, other_costs=decimal.Decimal(0)):
        """Counts the output again, independently of the ledger, and compares the charges with the balance."""
        self.assertEqual(batch["status"], "completed", batch)
        self.assertEqual(batch["request_counts"], {"total": count, "completed": count, "failed": 0})
        output = self.get(f"/files/{batch['output_file_id']}/content").decode().splitlines()
        results = [json.loads(line) for line in output]
        self.assertEqual([result["custom_id"] for result in results], [f"line-{n}" for n in range(count)])
        owed = other_costs
        for number, result in enumerate(results):
            body, expected = result["response"]["body"], tokens_of(number)
            self.assertTrue(body["choices"][0]["message"]["content"].startswith(f"{number} "))
            told = {name: body["usage"][name] for name in expected}
            self.assertEqual(told, expected)
            owed += line_cost(number)
        left = json.loads(self.get("/billing/balance"), parse_float=decimal.Decimal)["balances"]["usd"]
        self.assertEqual(decimal.Decimal(left), CREDIT - owed)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))
        return results


class Crashes(Batches):
    def test_each_line_is_charged_once_through_kills(self):
        Upstream.pause = 0.01
        batch = self.start(lines(LINES))
        chance = random.Random(int(os.environ.get("CRASH_SEED", "1")))
        kills = [KILLS]

        def kill():
            if 0 < kills[0]:
                kills[0] -= 1
                time.sleep(chance.uniform(0.0, 0.6))
                self.server.kill()
                self.server.start_again()

        results = self.check_results(self.wait(batch, kill), LINES)
        self.assertLess(kills[0], KILLS, "no kill hit the batch")
        self.server.stop()
        database = sqlite3.connect(os.path.join(self.server.folder, "data", "tollgate.db"))
        rows = database.execute("SELECT request_id, count(DISTINCT charge) FROM usage GROUP BY request_id")
        charges = dict(rows.fetchall())
        self.assertEqual(set(charges), {result["response"]["request_id"] for result in results})
        self.assertEqual(set(charges.values()), {1})
        database.close()
        print(f"{KILLS - kills[0]} kills, {LINES} lines, {self.engine.asked} calls of the upstream")


class Load(Batches):
    def memory_mb(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1)) // 1024

    def test_many_lines_take_little_memory_and_no_plain_text_is_left(self):
        before = self.memory_mb()
        batch = self.start(lines(LINES))
        began = time.monotonic()
        self.check_results(self.wait(batch), LINES)
        after = self.memory_mb()
        print(f"{LINES} lines in {time.monotonic() - began:.1f} s, {before} MB before, at most {after} MB")
        self.assertLess(after, before + MEMORY_MB_MAX)
        self.server.stop()
        for folder, _, names in os.walk(os.path.join(self.server.folder, "data")):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(b"line-7", file.read(), name)


if __name__ == "__main__":
    unittest.main()
