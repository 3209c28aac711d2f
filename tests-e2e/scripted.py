"""Base classes of the client tests: the scripted upstream's server, and a service in front of it."""

import json
import os
import subprocess
import threading
import unittest
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from server import Server

SUITE_SECONDS_MAX = 120


class ScriptedHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, headers=None):
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(written)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(written)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


class ScriptedUpstream:
    """Serves on a free loopback port; use it in a `with` statement so that it always ends."""

    handler = None

    def __enter__(self):
        self.requests = []
        self.hangups = threading.Semaphore(0)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler)
        self.server.daemon_threads = True
        self.server.upstream = self
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class ScriptedService(unittest.TestCase):
    """Starts one service with a scripted upstream for all tests of a class."""

    upstream_class = None
    config = None

    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(cls.upstream_class())
        cls.server = cls.enterClassContext(Server(config=cls.config.format(url=cls.upstream.url)))
        cls.key = cls.server.create_key("inference")
        cls.admin = cls.server.create_key("admin")

    def balance(self):
        request = urllib.request.Request(f"{self.server.api}/billing/balance")
        request.add_header("Authorization", f"Bearer {self.admin}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)["balances"]["usd"]

    def run_node_suite(self, suite, **environment):
        """Runs a test file with Node's test runner against the service."""
        environment = {
            **os.environ,
            "API_URL": self.server.api,
            "API_KEY": self.key,
            **environment,
        }
        line = ["node", "--test", "--test-reporter=tap", suite]
        run = subprocess.run(line, capture_output=True, text=True, timeout=SUITE_SECONDS_MAX, env=environment)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr + self.server.tail())
