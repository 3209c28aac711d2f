"""A stub chain node whose responses the test can hold back."""

import http.server
import json
import threading

CHAIN_IDS = {"base-mainnet": "0x2105", "ethereum-mainnet": "0x1", "zksync-mainnet": "0x144"}
HASH = "0x" + "ab" * 32
STALL_SECONDS_MAX = 20


class Node(http.server.BaseHTTPRequestHandler):
    """Answers chain id requests from the path at once; other calls wait while the test holds them back."""

    # Head and body are two writes; the second would wait 40 ms for the ACK of the first.
    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if call["id"] == 0:
            return self.answer(CHAIN_IDS[self.path.strip("/")])
        self.server.calls.append(call["method"])
        self.server.arrived.set()
        self.server.may_answer.wait(STALL_SECONDS_MAX)
        self.answer(HASH if call["method"] == "eth_sendRawTransaction" else "0x1", call["id"])
        self.server.answered.set()

    def answer(self, result, call_id=0):
        body = json.dumps({"jsonrpc": "2.0", "id": call_id, "result": result}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Nodes(http.server.ThreadingHTTPServer):
    """Serves every chain; use it in a `with` statement."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Node)
        self.calls = []
        self.arrived, self.answered, self.may_answer = (threading.Event() for _ in range(3))
        self.may_answer.set()

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.may_answer.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        pass  # A killed service leaves its connections, as expected.


def networks(node, *slugs):
    """A configuration in which this node serves the given networks."""
    sections = [f'[rpc.networks.{slug}]\nurls = ["http://127.0.0.1:{node.server_port}/{slug}"]\n' for slug in slugs]
    return "\n".join(sections)
