"""Tests that batches and background responses of a killed node go on at another, and are charged once."""

import contextlib
import json
import tempfile
import threading
import time
import unittest

import test_batches
import test_responses
from postgres import Postgres
from server import Server
from test_cluster import TAKEN_OVER_SECONDS_MAX, node
from test_crashes import Engine, send

LINES = 600
# Before the kill, so that it hits the batch.
LINE_SECONDS = 0.1
LINES_BEFORE_KILL = 20
ACCOUNT = "maker"


def setUpModule():
    global POSTGRES
    POSTGRES = unittest.enterModuleContext(Postgres())


class SharedFolder(Server):
    """A node whose media are in a directory that all nodes reach."""

    folder_of_media = None

    def __init__(self, binary=None, config=""):
        super().__init__(binary, f'{config}\n[media]\nurl = "file:{self.folder_of_media}"\n')


class WorkOnNodes(test_batches.Batches):
    def setUp(self):
        test_batches.Upstream.pause = LINE_SECONDS
        self.engine = self.start_engine(test_batches.Upstream)
        talker = self.start_engine(test_responses.Upstream)
        config = test_batches.config(self.engine.server_port) + test_responses.config(talker.server_port)
        media = self.enterContext(tempfile.TemporaryDirectory())
        kind = type("Node", (SharedFolder,), {"folder_of_media": media})
        url = POSTGRES.database()
        # The first node is the account's home, because it needs the account first.
        self.home, self.other = [self.enterContext(node(url, number, kind)(config=config)) for number in (1, 2)]
        self.server = self.home
        self.server.create_account(ACCOUNT)
        self.server.command("accounts", "credit", ACCOUNT, str(test_batches.CREDIT))
        self.key = self.server.create_key("admin", account=ACCOUNT)

    def start_engine(self, upstream):
        engine = Engine(("127.0.0.1", 0), upstream)
        threading.Thread(target=engine.serve_forever, daemon=True).start()
        self.addCleanup(engine.server_close)
        self.addCleanup(engine.shutdown)
        return engine

    def get(self, path):
        """A reply of the node that is asked; while the account moves there is none."""
        deadline = time.monotonic() + TAKEN_OVER_SECONDS_MAX
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                answer, text = send(self.server.api, self.key, "GET", path)
                if answer.status == 200:
                    return text
                self.assertIn(answer.status, (429, 502, 503), text)
            time.sleep(0.2)
        self.fail(f"no answer to {path}: {self.server.tail()}")

    def wait_for_response(self, name):
        deadline = time.monotonic() + test_batches.WAIT_SECONDS_MAX
        while time.monotonic() < deadline:
            response = json.loads(self.get(f"/responses/{name}"))
            if response["status"] not in ("queued", "in_progress"):
                return response
            time.sleep(0.2)
        self.fail(f"{name} does not end")

    def test_work_of_a_killed_node_goes_on_at_another_and_is_charged_once(self):
        batch = self.start(test_batches.lines(LINES))
        while json.loads(self.get(f"/batches/{batch}"))["request_counts"]["completed"] < LINES_BEFORE_KILL:
            time.sleep(0.1)
        body = {"model": "talker", "input": "speak slowly", "background": True}
        answer, text = send(self.server.api, self.key, "POST", "/responses", json.dumps(body))
        self.assertEqual(answer.status, 200, text)
        name = json.loads(text)["id"]
        while json.loads(self.get(f"/responses/{name}"))["status"] == "queued":
            time.sleep(0.02)
        self.assertEqual(json.loads(self.get(f"/responses/{name}"))["status"], "in_progress")
        self.home.kill()
        asked = self.engine.asked
        self.assertLess(asked, LINES, "the kill came too late")
        test_batches.Upstream.pause = 0.0
        self.server = self.other
        response = self.wait_for_response(name)
        self.assertEqual(response["status"], "completed", response)
        spoken = "".join(f"word{number} " for number in range(test_responses.WORDS))
        self.assertEqual(response["output"][0]["content"][0]["text"], spoken)
        usage = response["usage"]
        cost = usage["input_tokens"] * test_batches.INPUT + usage["output_tokens"] * test_batches.OUTPUT
        self.check_results(self.wait(batch), LINES, cost)
        print(f"{asked} calls of {LINES} lines before the kill, {self.engine.asked} in all")


if __name__ == "__main__":
    unittest.main()
