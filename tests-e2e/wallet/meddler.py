"""A proxy between the service and a node that runs an action before or after a chosen call."""

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BEFORE, AFTER = "before", "after"
NODE_SECONDS_MAX = 60


class Meddler:
    """Forwards everything to `target`; `url` is the proxy's address for the service."""

    def __init__(self, target):
        self.target, self.calls, self.plan, self.skip = target, [], None, 0
        self.lock = threading.Lock()
        meddler = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.exchange(None)

            def do_POST(self):
                self.exchange(self.rfile.read(int(self.headers["content-length"])))

            def exchange(self, body):
                try:
                    status, answer = meddler.pass_on(self.path, body)
                    self.send_response(status)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(answer)))
                    self.end_headers()
                    self.wfile.write(answer)
                except (Silence, OSError):
                    self.close_connection = True

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def at(self, call, moment, act, skip=0):
        """Runs `act` once, at the next call with this number (from 1) or name, after `skip` such calls."""
        with self.lock:
            self.calls, self.plan, self.skip = [], (call, moment, act), skip

    def pass_on(self, path, body):
        name = path
        if body is not None and path == "/":
            name = json.loads(body)["method"]
        act = self._due(name)
        if act and act[0] == BEFORE:
            act[1]()
        request = urllib.request.Request(self.target + path, body, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=NODE_SECONDS_MAX) as response:
                answer = response.status, response.read()
        except urllib.error.HTTPError as error:
            answer = error.code, error.read()
        if act and act[0] == AFTER:
            act[1]()
        return answer

    def _due(self, name):
        with self.lock:
            self.calls.append(name)
            if self.plan is None:
                return None
            call, moment, act = self.plan
            if call not in (name, len(self.calls)):
                return None
            if self.skip:
                self.skip -= 1
                return None
            self.plan = None
            return moment, act


class Quiet(ThreadingHTTPServer):
    """A server that logs no errors about killed clients."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


class Silence(Exception):
    """Drops the response."""


def lose_the_answer():
    raise Silence
