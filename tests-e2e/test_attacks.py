"""Tests of the memory, CPU and connections that unauthenticated callers and callers without credit can use.

Memory is the process's peak as reported by the kernel, and CPU time includes its children: both are
compared with the values before the attack.
"""

import base64
import json
import os
import re
import socket
import time
import unittest
import urllib.error
import urllib.request

from chat.service import CONFIG
from chat.upstream import EMBEDDING_INPUTS_MAX, Upstream
from server import Server

MEGABYTE = 1_000_000
SECONDS_MAX = 60
CONNECTIONS_PER_ADDRESS = 40
SERVER = f"[server]\nconnections_per_address = {CONNECTIONS_PER_ADDRESS}\n"
# A provider that cannot be reached.
GONE = """
[[provider]]
id = "gone"
kind = "openai"
base_url = "http://127.0.0.1:1/v1"

[[model]]
id = "gone-text"
type = "text"
provider = "gone"
tier = "XS"
context_tokens = 8192
price = { input_usd_per_million = "1.00", output_usd_per_million = "4.00" }
"""
TICKS = os.sysconf("SC_CLK_TCK")


class AttackCase(unittest.TestCase):
    """One service for all tests, with a paid model."""

    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(Upstream())
        config = CONFIG.format(url=cls.upstream.url, inputs_max=EMBEDDING_INPUTS_MAX)
        config = SERVER + config + GONE
        cls.server = cls.enterClassContext(Server(config=config))
        cls.key = cls.server.create_key("inference")
        cls.server.create_account("poor")
        cls.poor = cls.server.create_key("inference", account="poor")

    def peak_bytes(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024

    def processor_seconds(self):
        """CPU time of the service and of its ended children."""
        with open(f"/proc/{self.server.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:15]) / TICKS

    def readers(self):
        """The running children of the service."""
        folder = f"/proc/{self.server.process.pid}/task"
        children = []
        for task in os.listdir(folder):
            with open(f"{folder}/{task}/children", encoding="ascii") as file:
                children += file.read().split()
        return children

    def post(self, path, body, key=None):
        headers = {"content-type": "application/json"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.server.api}{path}", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except (ConnectionError, urllib.error.URLError):
            # The service responded before the whole request was sent, and closed.
            return None, b""

    def connect(self):
        host, port = self.server.url.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), timeout=SECONDS_MAX)

    def chat(self, *files):
        parts = [{"type": "text", "text": "What is this?"}]
        for content in files:
            data = base64.b64encode(content).decode()
            data = f"data:application/octet-stream;base64,{data}"
            parts.append({"type": "file", "file": {"file_data": data}})
        message = {"role": "user", "content": parts}
        return json.dumps({"model": "large-text", "messages": [message]}).encode()


class Bodies(AttackCase):
    def test_many_values_of_a_stranger_or_a_customer_take_little_memory(self):
        body = b'{"a":[' + b"0," * (15 * MEGABYTE) + b"0]}"
        before = self.peak_bytes()
        for path, key in [("/api_keys/generate_web3_key", None), ("/chat/completions", self.key)]:
            for _ in range(3):
                status, _ = self.post(path, body, key)
                self.assertIn(status, [413, None], path)
        grown = self.peak_bytes() - before
        self.assertLess(grown, 150 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB for 30 MB of zeros")

    def test_a_body_that_trickles_in_is_given_up(self):
        with self.connect() as connection:
            head = "POST /api/v1/api_keys/generate_web3_key HTTP/1.1\r\nhost: x\r\n"
            connection.sendall((head + "content-length: 60000\r\n\r\n").encode())
            started = time.monotonic()
            answer = b""
            connection.settimeout(0.5)
            while not answer and time.monotonic() - started < SECONDS_MAX:
                try:
                    connection.sendall(b" ")
                    answer = connection.recv(1000)
                except TimeoutError:
                    pass
        self.assertTrue(answer.startswith(b"HTTP/1.1 408"), answer)
        self.assertLess(time.monotonic() - started, 20)

    def test_slow_bodies_keep_no_connection_whatever_the_route(self):
        """Ten connections for each route; `it/slow_clients.rs` has every route, without sockets."""
        routes = ["/console/session", "/console/operator", "/console/solana-payment", "/api/v1/x402/top-up"]
        held = []
        for path in routes * 10:
            connection = self.connect()
            self.addCleanup(connection.close)
            head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            connection.sendall((head + "content-length: 4000\r\n\r\n").encode())
            connection.settimeout(0)
            held.append((path, connection))
        deadline = time.monotonic() + SECONDS_MAX
        while held and time.monotonic() < deadline:
            held = [(path, connection) for path, connection in held if self.is_open_after_a_byte(connection)]
            time.sleep(0.5)
        self.assertEqual([path for path, _ in held], [], "they are still open")

    def is_open_after_a_byte(self, connection):
        try:
            connection.send(b" ")
            while connection.recv(10_000):
                pass
            return False
        except BlockingIOError:
            return True
        except ConnectionError:
            return False


class Connections(AttackCase):
    def test_one_address_cannot_shut_the_others_out_and_gets_its_places_back(self):
        held = [self.connect() for _ in range(CONNECTIONS_PER_ADDRESS * 2)]
        try:
            closed = 0
            for connection in held:
                connection.settimeout(0.05)
                try:
                    closed += connection.recv(1) == b""
                except TimeoutError:
                    pass
                except ConnectionError:
                    closed += 1
            self.assertGreaterEqual(closed, CONNECTIONS_PER_ADDRESS - 5)
        finally:
            for connection in held:
                connection.close()
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            try:
                with urllib.request.urlopen(f"{self.server.api}/models", timeout=5) as answer:
                    self.assertEqual(answer.status, 200)
                    return
            except (ConnectionError, urllib.error.URLError):
                self.assertLess(time.monotonic(), deadline)


class Documents(AttackCase):
    def test_nothing_is_read_for_whoever_cannot_pay(self):
        before, readers = self.processor_seconds(), self.readers()
        for _ in range(5):
            status, _ = self.post("/chat/completions", self.chat(*[b"%PDF-1.4\n" * 70] * 5), self.poor)
            self.assertEqual(status, 402)
        self.assertEqual(self.readers(), readers)
        self.assertLess(self.processor_seconds() - before, 1)

    def test_a_document_is_read_by_a_process_that_has_nothing(self):
        status, answer = self.post("/chat/completions", self.chat(b"a plain text"), self.key)
        self.assertEqual(status, 200, answer)
        sent = json.dumps(self.upstream.requests[-1])
        self.assertIn("a plain text", sent)
        [reader] = self.readers()
        with open(f"/proc/{reader}/environ", "rb") as environment:
            self.assertEqual(environment.read(), b"")
        with open(f"/proc/{reader}/status", encoding="ascii") as status:
            text = status.read()
        self.assertRegex(text, r"NoNewPrivs:\s+1")
        self.assertRegex(text, r"Seccomp:\s+2")
        idle = int(re.search(r"RssAnon:\s+(\d+) kB", text).group(1)) * 1024
        # 10 in a release build; a debug build has twice the addresses to relocate.
        self.assertLess(idle, 20 * MEGABYTE)


class Log(AttackCase):
    def test_the_cause_of_a_failure_of_ours_is_found_by_its_request_id(self):
        body = json.dumps({"model": "gone-text", "messages": [{"role": "user", "content": "Hi"}]})
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.key}"}
        url = f"{self.server.api}/chat/completions"
        request = urllib.request.Request(url, body.encode(), headers)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=SECONDS_MAX)
        self.assertEqual(refused.exception.code, 503)
        request_id = refused.exception.headers["x-request-id"]
        deadline = time.monotonic() + SECONDS_MAX
        while True:
            lines = [json.loads(line) for line in self.log() if request_id in line]
            causes = [line for line in lines if "cannot be reached" in line["message"]]
            if causes:
                self.assertEqual(causes[0]["http.request_id"], request_id)
                return
            self.assertLess(time.monotonic(), deadline, lines)
            time.sleep(0.05)

    def log(self):
        with open(self.server.log.name, encoding="utf-8") as file:
            return file.read().splitlines()


if __name__ == "__main__":
    unittest.main()
