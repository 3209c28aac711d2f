"""Tests that the ledger stays exact when the service is killed repeatedly under load."""

import decimal
import http.client
import http.server
import json
import os
import random
import threading
import time
import unittest
import urllib.parse

from server import Server

KILLS = int(os.environ.get("KILLS", "25"))  # Twice: 50 in CI, and KILLS=500 over night.
CALLERS = 8
ACCOUNTS_PER_CALLER = 2
CREDIT = decimal.Decimal("5")
LIFE_SECONDS = (0.2, 0.6)
CALL_COST = decimal.Decimal("0.0000125")  # 20 credits at 625 nano-dollars.

CHAT_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "upstream",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "one two three"}}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}


class Upstream(http.server.BaseHTTPRequestHandler):
    """An engine and chain node with fixed responses."""

    # Head and body are two writes; the second would wait 40 ms for the ACK of the first.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.asked += 1
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(self.chain_answer(sent) if "method" in sent else CHAT_ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chain_answer(self, call):
        result = "0x2105" if call["method"] == "eth_chainId" else "0x1"
        return {"jsonrpc": "2.0", "id": call["id"], "result": result}

    def log_message(self, *_):
        pass


class Engine(http.server.ThreadingHTTPServer):
    # Number of received requests.
    asked = 0

    def handle_error(self, *_):
        pass  # A killed service leaves its connections, as expected.


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
price = {{ input_usd_per_million = "3.000001", output_usd_per_million = "7.000003" }}

[rpc.networks.base-mainnet]
urls = ["http://127.0.0.1:{port}/"]
"""


def send(api, key, method, path, body=None, headers=()):
    """Sends one call on its own connection; returns the response and its text."""
    place = urllib.parse.urlparse(api)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json", **dict(headers)}
    try:
        connection.request(method, place.path + path, body, headers)
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


class Caller(threading.Thread):
    """Sends requests without pause and records the responses."""

    def __init__(self, test, keys):
        super().__init__(daemon=True)
        self.test, self.keys = test, keys
        self.told = {}
        self.turn = 0

    def run(self):
        while not self.test.is_over.is_set():
            self.turn += 1
            self.work(self.keys[self.turn % len(self.keys)])

    def try_to_send(self, *arguments, **options):
        """The response and its text, or None if the connection broke: the call may or may not have been
        charged."""
        api = self.test.api
        if api is None:
            time.sleep(0.005)
            return None
        try:
            return send(api, *arguments, **options)
        except (OSError, http.client.HTTPException):
            return None


class Chatter(Caller):
    def work(self, key):
        body = json.dumps({"model": "small", "messages": [{"role": "user", "content": "count"}]})
        told = self.try_to_send(key, "POST", "/chat/completions", body)
        if told and told[0].status == 200:
            answer, text = told
            cost = json.loads(text, parse_float=decimal.Decimal)["cost"]["usd"]
            self.told[answer.headers["x-request-id"]] = decimal.Decimal(cost)


class Retrier(Caller):
    """Retries each call with its idempotency key until there is a response."""

    def work(self, key):
        name = f"{self.name}-{self.turn}".replace(" ", "").replace("(", "").replace(")", "")
        body = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
        while True:
            headers = {"idempotency-key": name}
            told = self.try_to_send(key, "POST", "/crypto/rpc/base-mainnet", body, headers=headers)
            if told and told[0].status == 200:
                self.told.setdefault(key, []).append(told[1])
                return


class Books:
    """A service under load, with the checks of its ledger."""

    api = None

    def open(self, kind):
        engine = self.engine = Engine(("127.0.0.1", 0), Upstream)
        threading.Thread(target=engine.serve_forever, daemon=True).start()
        self.addCleanup(engine.server_close)
        self.addCleanup(engine.shutdown)
        self.server = self.enterContext(kind(config=config(engine.server_port)))
        self.is_over = threading.Event()
        self.addCleanup(self.is_over.set)
        self.seed = int(os.environ.get("CRASH_SEED", random.randrange(1 << 32)))
        self.keys = [self.account(f"caller-{number}") for number in range(CALLERS * ACCOUNTS_PER_CALLER)]

    def crash_under(self, kind, times, end):
        """Runs clients of a class while `end` stops the service `times` times."""
        chance = random.Random(self.seed)
        callers = [kind(self, self.keys[number::CALLERS]) for number in range(CALLERS)]
        self.api = self.server.api
        for caller in callers:
            caller.start()
        for _ in range(times):
            time.sleep(chance.uniform(*LIFE_SECONDS))
            self.api = None
            end()
            self.server.start_again()
            self.api = self.server.api
        self.is_over.set()
        for caller in callers:
            caller.join()
        return callers

    def account(self, name):
        self.server.create_account(name)
        self.server.command("accounts", "credit", name, str(CREDIT))
        self.server.command("accounts", "tier", name, "staff")
        return self.server.create_key("admin", account=name)

    def check_books(self):
        """Asserts that no request is charged twice, and that each balance fell by the sum of its charges."""
        charged = {}
        for key in self.keys:
            spent = decimal.Decimal(0)
            for row in self.history(key):
                request = row["inferenceDetails"]["requestId"]
                skus = charged.setdefault(request, {})
                self.assertNotIn(row["sku"], skus, f"{request} was charged twice")
                skus[row["sku"]] = -decimal.Decimal(row["amount"])
                spent -= decimal.Decimal(row["amount"])
            balance = self.get(key, "/billing/balance")["balances"]["usd"]
            self.assertEqual(decimal.Decimal(balance), CREDIT - spent)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))
        return charged

    def history(self, key):
        path = "/billing/usage-history"
        while path:
            page = self.get(key, path)
            yield from page["data"]
            cursor = page["nextCursor"]
            path = cursor and f"/billing/usage-history?cursor={cursor}"

    def get(self, key, path):
        answer, text = send(self.server.api, key, "GET", path)
        self.assertEqual(answer.status, 200, text)
        return json.loads(text, parse_float=decimal.Decimal)


class Crashes(Books, unittest.TestCase):
    def setUp(self):
        self.open(Server)

    def test_nothing_that_was_acknowledged_is_lost_or_doubled(self):
        callers = self.crash_under(Chatter, KILLS, self.server.kill)
        paid = {request: cost for caller in callers for request, cost in caller.told.items()}
        with self.subTest(CRASH_SEED=self.seed):
            charged = self.check_books()
            self.assertGreater(len(paid), KILLS, "the callers hardly got through")
            for request, cost in paid.items():
                self.assertIn(request, charged, f"{request} was acknowledged and lost")
                self.assertEqual(sum(charged[request].values()), cost)
        print(f"{KILLS} kills, {len(paid)} acknowledged, {len(charged)} charged")

    def test_a_call_that_is_sent_until_it_is_answered_is_charged_once(self):
        callers = self.crash_under(Retrier, KILLS, self.server.kill)
        answered = {}
        for caller in callers:
            for key, answers in caller.told.items():
                answered[key] = answered.get(key, 0) + len(answers)
        with self.subTest(CRASH_SEED=self.seed):
            self.check_books()
            self.assertGreater(sum(answered.values()), KILLS, "the callers hardly got through")
            for key, count in answered.items():
                balance = self.get(key, "/billing/balance")["balances"]["usd"]
                self.assertEqual(decimal.Decimal(balance), CREDIT - count * CALL_COST)
        print(f"{KILLS} kills, {sum(answered.values())} calls, each charged once")


if __name__ == "__main__":
    unittest.main()
