"""Tests of queued music and videos: stored in a directory or on S3, with kills in every state."""

import decimal
import glob
import http.client
import http.server
import io
import json
import os
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import unittest
import urllib.error
import urllib.request
import wave

from server import Server
from test_crashes import Engine, send

KILLS = 12
CALLERS = 3
CREDIT = decimal.Decimal("50")
PRICE = decimal.Decimal("0.07")
WAIT_SECONDS_MAX = 90
VIDEO = b"\0\0\0\x18ftypisom" + bytes(range(256)) * 40


class Provider(http.server.BaseHTTPRequestHandler):
    """Implements OpenAI's /videos; the prompt determines the outcome."""

    disable_nagle_algorithm = True
    protocol_version = "HTTP/1.1"
    lock = threading.Lock()
    submitted = {}
    looked = {}
    chance = random.Random(7)

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = sent["prompt"]
        with self.lock:
            name = f"video_{len(self.submitted)}_{prompt.split()[0]}"
            self.submitted.setdefault(prompt, []).append(name)
            pause = self.chance.uniform(0, 0.05)
        time.sleep(pause)
        self.answer({"id": name, "status": "queued"})

    def do_GET(self):
        parts = self.path.split("/")
        name = parts[3]
        if parts[-1] == "content":
            return self.answer_bytes(VIDEO, "video/mp4")
        with self.lock:
            self.looked[name] = self.looked.get(name, 0) + 1
            looks = self.looked[name]
        if looks < 2:
            return self.answer({"id": name, "status": "in_progress"})
        if name.endswith("forbidden"):
            error = {"code": "moderation_blocked", "message": "Not that."}
            return self.answer({"id": name, "status": "failed", "error": error})
        return self.answer({"id": name, "status": "completed"})

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


def config(port, media=""):
    return f"""
{media}
[queue]
workers = 6
running_per_account = 4
open_per_account = 1000

[[provider]]
id = "videos"
kind = "openai"
base_url = "http://127.0.0.1:{port}/v1"

[[model]]
id = "clips"
type = "video"
provider = "videos"
starts_from = "text-to-video"
durations = ["5s"]
price = {{ per_generation_usd = "{PRICE}" }}

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


class Queue(unittest.TestCase):
    media = ""

    def setUp(self):
        provider = Engine(("127.0.0.1", 0), Provider)
        Provider.submitted.clear()
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        self.addCleanup(provider.server_close)
        self.addCleanup(provider.shutdown)
        self.server = self.enterContext(Server(config=config(provider.server_port, self.media)))

    def account(self, name):
        self.server.create_account(name)
        self.server.command("accounts", "credit", name, str(CREDIT))
        self.server.command("accounts", "tier", name, "staff")
        return self.server.create_key("admin", account=name)

    def post(self, key, path, body, headers=()):
        return send(self.server.api, key, "POST", path, json.dumps(body), headers)

    def balance(self, key):
        while True:
            answer, text = send(self.server.api, key, "GET", "/billing/balance")
            if answer.status != 429:
                return answer, text
            time.sleep(int(answer.headers["retry-after"]))

    def wait_for(self, key, path, body):
        """Waits for a job and returns its final response."""
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < deadline:
            answer, text = self.post(key, path, body)
            is_json = answer.headers["content-type"].startswith("application/json")
            if answer.status == 429:
                time.sleep(int(answer.headers["retry-after"]))
                continue
            if not (answer.status == 200 and is_json and json.loads(text).get("status") == "PROCESSING"):
                return answer, text
            time.sleep(0.1)
        self.fail(f"{body} has not ended")


class Chaos(Queue):
    def test_each_job_ends_once_and_each_hold_is_resolved_once(self):
        keys = [self.account(f"maker-{number}") for number in range(CALLERS)]
        is_over, queued = threading.Event(), {key: {} for key in keys}

        def work(key, number):
            turn = 0
            while not is_over.is_set():
                turn += 1
                kind = "forbidden" if turn % 5 == 0 else "boat"
                prompt = f"{kind} {number} {turn}"
                body = json.dumps({"model": "clips", "prompt": prompt, "duration": "5s"})
                name = {"idempotency-key": f"k-{number}-{turn}"}
                # Retries until there is a response: the same key never queues twice.
                while True:
                    try:
                        answer, text = send(self.server.api, key, "POST", "/video/queue", body, name)
                    except (OSError, http.client.HTTPException, AttributeError):
                        time.sleep(0.01)
                        continue
                    if answer.status == 200:
                        queued[key][prompt] = json.loads(text)["queue_id"]
                        break
                    self.assertIn(answer.status, (429, 503), text)
                    time.sleep(0.05)
                # Below the rate limit of retrieving, so that the check does not wait for it.
                time.sleep(0.15)

        callers = [
            threading.Thread(target=work, args=pair, daemon=True) for pair in zip(keys, range(CALLERS), strict=True)
        ]
        for caller in callers:
            caller.start()
        chance = random.Random(int(os.environ.get("CRASH_SEED", "1")))
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.3, 1.0))
            self.server.kill()
            self.server.start_again()
        is_over.set()
        for caller in callers:
            caller.join()
        self.check(keys, queued)

    def check(self, keys, queued):
        made = refused = lost = 0
        for key in keys:
            self.assertTrue(queued[key], "nobody got through")
            completed = 0
            for prompt, job in queued[key].items():
                answer, text = self.wait_for(key, "/video/retrieve", {"model": "clips", "queue_id": job})
                taken = len(Provider.submitted.get(prompt, []))
                self.assertLessEqual(taken, 1, f"{prompt} was handed in {taken} times")
                if answer.status == 200:
                    self.assertEqual(text, VIDEO)
                    completed += 1
                elif answer.status == 422:
                    self.assertTrue(json.loads(text)["error"]["credits_refunded"])
                    self.assertIn("forbidden", prompt)
                    refused += 1
                else:
                    # The service died while it submitted this job.
                    self.assertEqual(answer.status, 500, text)
                    self.assertTrue(json.loads(text)["credits_refunded"], text)
                    lost += 1
            made += completed
            answer, text = self.balance(key)
            left = json.loads(text, parse_float=decimal.Decimal)["balances"]["usd"]
            self.assertEqual(decimal.Decimal(left), CREDIT - completed * PRICE)
        self.assertEqual(json.loads(self.server.command("jobs", "list", "--json")), [])
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))
        self.server.stop()
        data = os.path.join(self.server.folder, "data")
        database = sqlite3.connect(os.path.join(data, "tollgate.db"))

        def count(sql):
            return database.execute(sql).fetchone()[0]

        self.assertEqual(count("SELECT count(*) FROM job_hold"), 0)
        self.assertEqual(count("SELECT count(*) FROM job WHERE is_open = 1"), 0)
        self.assertEqual(count("SELECT count(*) FROM job"), sum(len(jobs) for jobs in queued.values()))
        rows = {row[0].hex() for row in database.execute("SELECT id FROM media WHERE state = 'STORED'")}
        self.assertEqual(len(rows), made)
        objects = {os.path.basename(path) for path in glob.glob(os.path.join(data, "media", "*"))}
        self.assertLessEqual(rows, objects, "a row without its media")
        self.assertGreater(made, KILLS)
        print(
            f"{KILLS} kills: {made} made, {refused} refused, {lost} lost while handed in, "
            f"{len(objects - rows)} orphans for the sweeper"
        )


class Songs(Queue):
    def test_a_song_is_composed_here_and_is_as_long_as_it_was_asked_to_be(self):
        key = self.account("listener")
        body = {"model": "composer", "prompt": "calm lofi piano in the rain", "duration_seconds": 6}
        answer, text = self.post(key, "/audio/quote", {"model": "composer", "duration_seconds": 6})
        self.assertEqual(json.loads(text), {"quote": 0.006})
        answer, text = self.post(key, "/audio/queue", body)
        self.assertEqual(answer.status, 200, text)
        job = json.loads(text)["queue_id"]
        answer, text = self.wait_for(key, "/audio/retrieve", {"model": "composer", "queue_id": job})
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "audio/wav"), text[:300])
        with wave.open(io.BytesIO(text)) as song:
            self.assertEqual((song.getnchannels(), song.getframerate()), (2, 44100))
            self.assertEqual(song.getnframes(), 6 * 44100)
        shown = json.loads(self.server.command("jobs", "show", job, "--json"))
        self.assertEqual((shown["state"], shown["attempts"]), ("COMPLETED", 1))
        sung = {**body, "lyrics_prompt": "la la"}
        answer, text = self.post(key, "/audio/queue", sung)
        self.assertEqual(answer.status, 400)


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class OnS3(Queue):
    """The same tests with the media on an S3 server."""

    def setUp(self):
        port = free_port()
        s3 = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(s3.wait)
        self.addCleanup(s3.terminate)
        self.place = f"http://127.0.0.1:{port}"
        for name, value in {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}.items():
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name) if before is None else self.addCleanup(
                os.environ.__setitem__, name, before
            )
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while True:
            try:
                bucket = urllib.request.Request(f"{self.place}/songs", method="PUT")
                urllib.request.urlopen(bucket, timeout=5).read()
                break
            except (OSError, urllib.error.URLError):
                self.assertLess(time.monotonic(), deadline, "the S3 server has not started")
                time.sleep(0.1)
        self.media = f'[media]\nurl = "s3://songs/kept"\nendpoint = "{self.place}"\nregion = "us-east-1"\n'
        super().setUp()

    def test_media_on_s3_is_sealed_sent_and_deleted(self):
        key = self.account("maker")
        body = {"model": "clips", "prompt": "boat on s3", "duration": "5s"}
        answer, text = self.post(key, "/video/queue", body)
        self.assertEqual(answer.status, 200, text)
        job = {"model": "clips", "queue_id": json.loads(text)["queue_id"]}
        answer, text = self.wait_for(key, "/video/retrieve", job)
        self.assertEqual((answer.status, text), (200, VIDEO))
        listing = urllib.request.urlopen(f"{self.place}/songs?list-type=2", timeout=5).read().decode()
        self.assertEqual(listing.count("<Key>"), 1, listing)
        name = listing.split("<Key>")[1].split("</Key>")[0]
        self.assertTrue(name.startswith("kept/"))
        raw = urllib.request.urlopen(f"{self.place}/songs/{name}", timeout=5).read()
        self.assertNotIn(b"ftyp", raw)
        answer, text = self.post(key, "/video/complete", job)
        self.assertEqual(json.loads(text), {"success": True})
        listing = urllib.request.urlopen(f"{self.place}/songs?list-type=2", timeout=5).read().decode()
        self.assertNotIn("<Key>", listing)
        answer, text = self.post(key, "/video/retrieve", job)
        self.assertEqual(answer.status, 404)


if __name__ == "__main__":
    unittest.main()
