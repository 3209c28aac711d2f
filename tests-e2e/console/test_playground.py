"""Tests of the playground in a browser: chats, audio, jobs and chain calls, with scripted upstreams."""

import http.server
import json
import pathlib
import threading
import time
import unittest

import audio.service
import audio.upstream
import chat.service
import chat.upstream
from node import Nodes, networks
from server import Server

from console.suite import browse

SUITE_SECONDS_MAX = 240
CRATES = pathlib.Path(__file__).parents[2] / "crates"
PICTURE = CRATES / "models" / "engine-onnx" / "tests" / "reference" / "pictor-rocket.png"
VIDEO = b"\0\0\0\x18ftypisom" + bytes(range(256)) * 40
# Longer than two polling intervals of the page.
VIDEO_SECONDS = 6
QUEUE = """
[[provider]]
id = "videos"
kind = "openai"
base_url = "{url}"

[[model]]
id = "clips"
type = "video"
provider = "videos"
starts_from = "text-to-video"
durations = ["5s"]
price = {{ per_generation_usd = "0.07" }}

[[model]]
id = "private-clips"
type = "video"
provider = "videos"
privacy = "private"
starts_from = "text-to-video"
durations = ["5s"]
price = {{ per_generation_usd = "0.07" }}

[[model]]
id = "composer"
type = "music"
provider = "local"
formats = ["wav", "mp3", "flac"]
supports_force_instrumental = true
min_duration = 5
default_duration = 10
max_duration = 240
price = {{ usd_per_second = "0.001" }}
"""


class Videos(http.server.BaseHTTPRequestHandler):
    """Implements OpenAI's /videos; forbidden prompts fail, others complete after a while."""

    protocol_version = "HTTP/1.1"
    begun = {}

    def do_POST(self):
        prompt = json.loads(self.rfile.read(int(self.headers["content-length"])))["prompt"]
        name = f"video_{len(self.begun)}_{prompt.split()[0]}"
        self.begun[name] = time.monotonic()
        self.answer({"id": name, "status": "queued"})

    def do_GET(self):
        parts = self.path.split("/")
        if parts[-1] == "content":
            return self.send(VIDEO, "video/mp4")
        name = parts[3]
        if name.endswith("forbidden"):
            error = {"code": "moderation_blocked", "message": "Not that."}
            return self.answer({"id": name, "status": "failed", "error": error})
        is_made = VIDEO_SECONDS < time.monotonic() - self.begun[name]
        return self.answer({"id": name, "status": "completed" if is_made else "in_progress"})

    def answer(self, value):
        self.send(json.dumps(value).encode(), "application/json")

    def send(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Playground(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        talks = cls.enterClassContext(chat.upstream.Upstream())
        sounds = cls.enterClassContext(audio.upstream.Upstream())
        nodes = cls.enterClassContext(Nodes())
        videos = cls.enterClassContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Videos))
        threading.Thread(target=videos.serve_forever, daemon=True).start()
        cls.addClassCleanup(videos.shutdown)
        of_sound = audio.service.CONFIG.replace('"scripted"', '"sounds"')
        parts = [
            chat.service.CONFIG.format(url=talks.url, inputs_max=chat.upstream.EMBEDDING_INPUTS_MAX),
            of_sound.format(url=sounds.url),
            QUEUE.format(url=f"http://127.0.0.1:{videos.server_port}/v1"),
            networks(nodes, "base-mainnet", "ethereum-mainnet"),
        ]
        cls.server = cls.enterClassContext(Server(config="\n".join(parts)))
        cls.keys = {
            "ADMIN_KEY": cls.server.create_key("admin"),
            "INFERENCE_KEY": cls.server.create_key("inference"),
        }

    def test_chats(self):
        browse(self, self.server, "chat.test.mjs", SUITE_SECONDS_MAX, PICTURE=PICTURE, **self.keys)

    def test_sound(self):
        sample = audio.service.SAMPLES / "tone.wav"
        browse(self, self.server, "sound.test.mjs", SUITE_SECONDS_MAX, SAMPLE=sample, **self.keys)

    def test_music_and_videos(self):
        browse(self, self.server, "jobs.test.mjs", SUITE_SECONDS_MAX, **self.keys)

    def test_calls_to_a_chain(self):
        browse(self, self.server, "rpc.test.mjs", SUITE_SECONDS_MAX, **self.keys)


if __name__ == "__main__":
    unittest.main()
