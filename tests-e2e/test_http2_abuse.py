"""Tests of the memory, CPU and connections that clients can use by abusing HTTP/2.

Every case starts with a service that has already answered a request, and ends with three checks: the additional
memory of the service, responses to other clients, and that the abuser's connections are closed.
"""

import os
import re
import socket
import struct
import time
import unittest
import urllib.request

import http2
from http2 import CONTINUATION, DATA, END_HEADERS, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE
from server import Server

MEGABYTE = 1_000_000
# Connection timeouts, short for the tests.
TIMEOUT_S = 2
CONFIG = f"""
[server]
header_timeout_s = {TIMEOUT_S}
idle_timeout_s = {TIMEOUT_S}
send_timeout_s = {TIMEOUT_S}
"""
# Time limit for connections to end: all timeouts in sequence, on a busy machine.
SECONDS_MAX = 60
# The largest of the pages.
LARGE_PAGE = "/docs/search.json"
STREAMS = 200
TICKS = os.sysconf("SC_CLK_TCK")


class AbuseCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(config=CONFIG))
        host, port = cls.server.url.removeprefix("http://").split(":")
        cls.address = (host, int(port))

    def setUp(self):
        self.ask()
        self.wait_until_gone()
        with open(f"/proc/{self.server.process.pid}/clear_refs", "w", encoding="ascii") as peak:
            peak.write("5")
        self.memory_before, self.processor_before = self.peak_memory(), self.processor_seconds()

    def connect(self, window=65_535):
        connection = http2.Connection(self.address, window, timeout=SECONDS_MAX)
        self.addCleanup(connection.socket.close)
        return connection

    def ask(self):
        """Sends a request as another client, which must get a response."""
        with urllib.request.urlopen(f"{self.server.api}/models", timeout=SECONDS_MAX) as answer:
            self.assertEqual(answer.status, 200)

    def peak_memory(self):
        """Peak memory since the test began; the kernel's peak is reset before."""
        with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024

    def processor_seconds(self):
        with open(f"/proc/{self.server.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return sum(int(field) for field in fields[11:13]) / TICKS

    def open_connections(self):
        """The number of established connections of the service, from the kernel."""
        port = f":{self.address[1]:04X}"
        with open("/proc/net/tcp", encoding="ascii") as table:
            lines = [line.split() for line in table.readlines()[1:]]
        return sum(line[1].endswith(port) and line[3] == "01" for line in lines)

    def wait_until_gone(self):
        deadline = time.monotonic() + SECONDS_MAX
        while 0 < self.open_connections():
            self.assertLess(time.monotonic(), deadline, f"{self.open_connections()} connections stay open")
            time.sleep(0.05)

    def check(self, megabytes_max=32, seconds_max=10):
        """Checks the resources used by an abuse, during or after it."""
        self.ask()
        grown = (self.peak_memory() - self.memory_before) / MEGABYTE
        self.assertLess(grown, megabytes_max, f"{grown:.0f} MB more")
        used = self.processor_seconds() - self.processor_before
        self.assertLess(used, seconds_max, f"{used:.1f} s of the processor")

    def until_end(self, connection):
        """The remaining frames; fails if the service does not close the connection."""
        try:
            return list(connection.frames())
        except TimeoutError:
            self.fail(f"the connection is open after {SECONDS_MAX} s")


class Readers(AbuseCase):
    def test_windows_of_zero_keep_nothing_and_lose_their_streams(self):
        for encoding, connections in ((b"identity", 10), (b"gzip", 3), (b"br", 3)):
            self.open_many(0, [(b"accept-encoding", encoding)], connections)
        self.ask()
        self.wait_until_gone()
        self.check(megabytes_max=100)

    def test_windows_of_a_byte_keep_nothing_and_lose_their_streams(self):
        connections = self.open_many(window=1)
        update = b"".join(http2.frame(WINDOW_UPDATE, 0, 1 + 2 * it, struct.pack(">I", 1)) for it in range(STREAMS))
        deadline = time.monotonic() + 3 * TIMEOUT_S
        while time.monotonic() < deadline and all(it.send(update) for it in connections):
            time.sleep(0.1)
        self.ask()
        self.wait_until_gone()
        self.check(megabytes_max=64)

    def test_a_socket_that_is_never_read_is_closed(self):
        for connection in self.open_many(window=2**31 - 1):
            connection.send(http2.frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 2**31 - 1 - 65_535)))
        self.ask()
        self.wait_until_gone()
        self.check(megabytes_max=64)

    def test_http_1_readers_that_stop_are_closed(self):
        head = f"GET {LARGE_PAGE} HTTP/1.1\r\nhost: x\r\n\r\n".encode()
        for _ in range(20):
            reader = socket.socket()
            self.addCleanup(reader.close)
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(self.address)
            reader.sendall(head * 50)
        self.ask()
        self.wait_until_gone()
        self.check(megabytes_max=32)

    def open_many(self, window, more=(), connections=10):
        connections = [self.connect(window) for _ in range(connections)]
        for connection in connections:
            requests = (http2.request(1 + 2 * it, LARGE_PAGE, more=more) for it in range(STREAMS))
            connection.send(b"".join(requests))
        return connections


class Floods(AbuseCase):
    def flood(self, connection, data, megabytes=20):
        """Sends the same data repeatedly, without reading, until the connection is closed."""
        connection.socket.settimeout(TIMEOUT_S * 4)
        for _ in range(max(1, megabytes * MEGABYTE // len(data))):
            if not connection.send(data):
                return

    def test_streams_that_are_reset_at_once_end_their_connection(self):
        connection = self.connect()
        for base in range(1, 20_000, 200):
            pairs = (
                http2.request(it, "/api/v1/models") + http2.frame(RST_STREAM, 0, it, struct.pack(">I", 8))
                for it in range(base, base + 200, 2)
            )
            if not connection.send(b"".join(pairs)):
                break
        self.check()
        kinds = [kind for kind, *_ in self.until_end(connection)]
        self.assertIn(GOAWAY, kinds)

    def test_headers_that_never_end_end_their_connection(self):
        connection = self.connect()
        connection.send(http2.frame(HEADERS, 0, 1, http2.head("/")))
        block = http2.literal(b"x-filler", b"y" * 100) * 100
        self.flood(connection, http2.frame(CONTINUATION, 0, 1, block))
        self.check()
        self.until_end(connection)

    def test_headers_that_unpack_to_much_are_refused(self):
        connection = self.connect()
        # One long header is added to the HPACK table and then referenced repeatedly.
        block = http2.head("/") + b"\x40\x06filler\x7f\xa1\x1e" + b"y" * 4000 + b"\xbe" * 10_000
        self.assertLess(len(block), 16_384)
        connection.send(http2.frame(HEADERS, END_HEADERS | http2.END_STREAM, 1, block))
        connection.send(http2.request(3, "/api/v1/models"))
        self.check(megabytes_max=16)
        self.until_end(connection)

    def test_pings_whose_answers_are_not_read_take_no_memory(self):
        connection = self.connect()
        self.flood(connection, http2.frame(PING, payload=b"x" * 8) * 1000)
        self.check()
        connection.socket.close()

    def test_settings_whose_answers_are_not_read_take_no_memory(self):
        connection = self.connect()
        self.flood(connection, http2.settings(window=1) * 1000)
        self.check()
        connection.socket.close()

    def test_empty_pieces_of_a_body_end_their_connection(self):
        connection = self.connect()
        more = [(b"content-type", b"application/json")]
        connection.send(http2.request(1, "/api/v1/api_keys/generate_web3_key", b"POST", more, ends=False))
        self.flood(connection, http2.frame(DATA, 0, 1) * 1000, megabytes=2)
        self.check()
        connection.socket.settimeout(SECONDS_MAX)
        kinds = [kind for kind, *_ in self.until_end(connection)]
        self.assertIn(GOAWAY, kinds)

    def test_streams_beyond_the_bound_are_refused(self):
        connection = self.connect(window=0)
        connection.send(b"".join(http2.request(1 + 2 * it, LARGE_PAGE) for it in range(1000)))
        refused = 0
        for kind, _, _, payload in connection.frames():
            refused += kind == RST_STREAM and payload == struct.pack(">I", 7)
            if refused == 1000 - 256:
                break
        self.assertEqual(refused, 1000 - 256)
        self.check()

    def test_priorities_for_streams_that_are_none_take_no_memory(self):
        connection = self.connect()
        frames = (http2.frame(http2.PRIORITY, 0, 1 + 2 * it, struct.pack(">IB", 0, 1)) for it in range(10_000))
        self.flood(connection, b"".join(frames))
        self.check()
        connection.socket.close()


class Silence(AbuseCase):
    def test_half_a_request_is_not_waited_for(self):
        whole = http2.PREFACE + http2.settings(window=65_535)
        head = http2.frame(HEADERS, 0, 1, http2.head("/"))
        for said in (b"", http2.PREFACE[:10], http2.PREFACE, whole, whole + head[:12], whole + head):
            connection = socket.create_connection(self.address, timeout=SECONDS_MAX)
            self.addCleanup(connection.close)
            connection.sendall(said)
        self.check()
        self.wait_until_gone()

    def test_settings_and_pings_alone_keep_no_connection(self):
        connection = self.connect()
        connection.send(http2.request(1, "/api/v1/models"))
        deadline = time.monotonic() + SECONDS_MAX
        while connection.send(http2.frame(PING, payload=b"x" * 8) + http2.frame(SETTINGS)):
            self.assertLess(time.monotonic(), deadline, "pings keep the connection")
            time.sleep(0.1)
        self.wait_until_gone()


if __name__ == "__main__":
    unittest.main()
