"""Servers between an agent and the outside: one records what it sends to the service, one refuses everything else."""

import dataclasses
import http.client
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FORWARD_SECONDS_MAX = 120
CHUNK_BYTES = 65536
# Headers of one connection, which are not forwarded.
OF_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "proxy-connection", "host"}


@dataclasses.dataclass
class Exchange:
    """A request of an agent, and the status and body of its answer."""

    method: str
    path: str
    headers: dict
    body: bytes
    status: int = 0
    answer: bytes = b""


class RecordingHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def forward(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        made = Exchange(self.command, self.path, headers, body)
        self.server.exchanges.append(made)
        connection = http.client.HTTPConnection(self.server.target, timeout=FORWARD_SECONDS_MAX)
        try:
            kept = {name: value for name, value in headers.items() if name not in OF_CONNECTION}
            connection.request(self.command, self.path, body, kept)
            self.pass_on(connection.getresponse(), made)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            connection.close()

    def pass_on(self, answer, made):
        """Passes the answer on as it comes, so that a stream stays one."""
        made.status = answer.status
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in OF_CONNECTION | {"content-length"}:
                self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        while piece := answer.read1(CHUNK_BYTES):
            made.answer += piece
            self.wfile.write(piece)
            self.wfile.flush()

    do_GET = do_HEAD = do_POST = do_DELETE = forward


class LoopbackServer(ThreadingHTTPServer):
    """Serves on a free loopback port; use it in a `with` statement so that it always ends."""

    daemon_threads = True

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass  # An agent that ends leaves its connections, as expected.


class Recorder(LoopbackServer):
    """Forwards to the service and records each exchange."""

    def __init__(self, service_url):
        super().__init__(RecordingHandler)
        self.target = urllib.parse.urlsplit(service_url).netloc
        self.exchanges = []

    def calls(self, path):
        """The exchanges of a path, whatever their query."""
        return [it for it in self.exchanges if it.path.split("?")[0] == path]


class RefusingHandler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def refuse(self):
        self.server.refused.append(self.path)
        self.send_error(403)

    do_CONNECT = do_GET = do_HEAD = do_POST = do_PUT = refuse


class RefusingProxy(LoopbackServer):
    """The proxy of an agent for every host but this machine: it refuses, so that a test needs no network."""

    def __init__(self):
        super().__init__(RefusingHandler)
        self.refused = []
