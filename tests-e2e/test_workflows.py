"""Tests of music and videos by ComfyUI workflows: checked at startup, filled in and run."""

import http.server
import json
import os
import pathlib
import tempfile
import threading
import time
import unittest

from server import Server
from test_crashes import Engine, send

GOLDEN = pathlib.Path(__file__).parents[1] / "crates" / "models" / "engine-upstream" / "golden" / "queued"
VIDEO = b"\0\0\0\x18ftypisom" + bytes(range(256)) * 40
WAIT_SECONDS_MAX = 60


class ComfyUi(http.server.BaseHTTPRequestHandler):
    """Reports a submitted job in its queue for one poll, and in its history afterwards."""

    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    handed_in, stopped = {}, []

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
        if self.path == "/prompt":
            name = f"job-{len(self.handed_in)}"
            self.handed_in[name] = sent["prompt"]
            return self.answer({"prompt_id": name})
        self.stopped.append((self.path, sent))
        self.answer({})

    def do_GET(self):
        if self.path.startswith("/view?"):
            return self.answer_bytes(VIDEO, "video/mp4")
        if self.path == "/queue":
            running = [[0, name, {}, {}, []] for name in self.handed_in if self.is_slow(name)]
            return self.answer({"queue_running": running, "queue_pending": []})
        name = self.path.removeprefix("/history/")
        if self.is_slow(name):
            return self.answer({})
        if "forbidden" in self.handed_in[name]["6"]["inputs"]["text"]:
            told = {"exception_message": "Rejected by content moderation."}
            status = {"status_str": "error", "messages": [["execution_error", told]]}
            return self.answer({name: {"outputs": {}, "status": status}})
        made = {"filename": "a.mp4", "subfolder": "video", "type": "output"}
        status = {"status_str": "success"}
        self.answer({name: {"outputs": {"50": {"images": [made]}}, "status": status}})

    def is_slow(self, name):
        return "slow" in self.handed_in[name]["6"]["inputs"]["text"]

    def answer(self, value):
        self.answer_bytes(json.dumps(value).encode(), "application/json")

    def answer_bytes(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def config(port, workflow):
    return f"""
[[provider]]
id = "comfy"
kind = "comfyui"
base_url = "http://127.0.0.1:{port}"

[[model]]
id = "wan"
type = "video"
provider = "comfy"
{workflow}
starts_from = "text-to-video"
durations = ["5s"]
aspect_ratios = ["16:9"]
resolutions = ["480p"]
price = {{ usd_per_second = "0.01" }}
"""


class Workflows(unittest.TestCase):
    def setUp(self):
        ComfyUi.handed_in.clear()
        ComfyUi.stopped.clear()
        provider = Engine(("127.0.0.1", 0), ComfyUi)
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        self.addCleanup(provider.server_close)
        self.addCleanup(provider.shutdown)
        self.port = provider.server_port

    def start(self):
        workflow = f'workflow = "{GOLDEN / "workflow.video.json"}"'
        self.server = self.enterContext(Server(config=config(self.port, workflow)))
        self.key = self.server.create_key("inference")

    def post(self, path, body):
        return send(self.server.api, self.key, "POST", path, json.dumps(body))

    def queue(self, prompt):
        body = {"model": "wan", "prompt": prompt, "duration": "5s", "aspect_ratio": "16:9"}
        answer, text = self.post("/video/queue", body)
        self.assertEqual(answer.status, 200, text)
        return json.loads(text)["queue_id"]

    def until_ended(self, job):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while True:
            answer, text = self.post("/video/retrieve", {"model": "wan", "queue_id": job})
            if b"PROCESSING" not in text[:100]:
                return answer, text
            self.assertGreater(deadline, time.monotonic(), self.server.tail())
            time.sleep(0.1)

    def test_a_video_is_made_by_a_workflow(self):
        self.start()
        answer, text = self.until_ended(self.queue("a boat"))
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "video/mp4"), text)
        self.assertEqual(text, VIDEO)
        (graph,) = ComfyUi.handed_in.values()
        self.assertEqual(graph["6"]["inputs"]["text"], "a boat")
        size = {"width": 864, "height": 480, "length": 81, "batch_size": 1}
        self.assertEqual(graph["40"]["inputs"], size)

    def test_what_a_node_refuses_is_refunded_and_what_is_cancelled_is_interrupted(self):
        self.start()
        answer, text = self.until_ended(self.queue("a forbidden boat"))
        self.assertEqual(answer.status, 422, text)
        self.assertTrue(json.loads(text)["error"]["credits_refunded"])
        job = self.queue("a slow boat")
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while len(ComfyUi.handed_in) < 2:
            self.assertGreater(deadline, time.monotonic(), self.server.tail())
            time.sleep(0.05)
        self.server.command("jobs", "cancel", job)
        answer, text = self.until_ended(job)
        self.assertTrue(json.loads(text)["credits_refunded"], text)
        stopped = [("/queue", {"delete": ["job-1"]}), ("/interrupt", {"prompt_id": "job-1"})]
        self.assertEqual(ComfyUi.stopped, stopped)

    def test_a_workflow_is_checked_at_the_start(self):
        with tempfile.TemporaryDirectory() as folder:
            silent = os.path.join(folder, "silent.json")
            pathlib.Path(silent).write_text('{"1": {"class_type": "A", "inputs": {"a": "{{seed}}"}}}')
            for workflow, cause in [("", "needs a `workflow`"), (f'workflow = "{silent}"', "{{prompt}}")]:
                with self.assertRaises(AssertionError) as ended:
                    with Server(config=config(self.port, workflow)):
                        pass
                self.assertIn(cause, str(ended.exception))
