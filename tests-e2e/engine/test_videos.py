"""Tests of videos with the built-in model, from the quote to the file, and of image edits."""

import base64
import decimal
import json
import struct
import time
import urllib.error
import urllib.request

from engine.service import READY_SECONDS_MAX, EngineCase
from engine.test_pictures import ROCKET, head, read

MODEL = "pictor-motion"
CLIP = {
    "model": MODEL,
    "prompt": "a sailboat on the sea at sunset",
    "duration": "2s",
    "aspect_ratio": "16:9",
    "resolution": "256p",
}
PRICE = decimal.Decimal("0.02")


def boxes(data):
    """Parses the boxes of an MP4 file, by their path."""
    found, containers = {}, {b"moov", b"trak", b"mdia", b"minf", b"stbl"}

    def walk(start, end, path):
        while start < end:
            size, kind = struct.unpack(">I4s", data[start : start + 8])
            name = path + (kind.decode(),)
            found["/".join(name)] = data[start + 8 : start + size]
            if kind in containers:
                walk(start + 8, start + size, name)
            start += size

    walk(0, len(data), ())
    return found


class Videos(EngineCase):
    def post(self, path, body, key=True):
        headers = {"content-type": "application/json"}
        if key:
            headers["authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.server.api + path, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=READY_SECONDS_MAX) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def queue(self, **changes):
        deadline = time.monotonic() + READY_SECONDS_MAX
        while True:
            status, answer = self.post("/video/queue", {**CLIP, **changes})
            if status != 503 or deadline < time.monotonic():
                self.assertEqual(status, 200, answer)
                return json.loads(answer)
            time.sleep(0.2)

    def until_ended(self, queued):
        body = {"model": MODEL, "queue_id": queued["queue_id"]}
        deadline = time.monotonic() + READY_SECONDS_MAX
        while True:
            status, answer = self.post("/video/retrieve", body)
            told = json.loads(answer)
            if told.get("status") != "PROCESSING":
                return status, told
            self.assertGreater(deadline, time.monotonic(), self.server.tail())
            time.sleep(0.5)

    def test_a_video_is_quoted_queued_made_downloaded_and_completed(self):
        status, quote = self.post("/video/quote", CLIP, key=False)
        self.assertEqual((status, json.loads(quote)), (200, {"quote": float(PRICE)}))
        queued = self.queue()
        self.assertEqual(queued["model"], MODEL)
        status, told = self.until_ended(queued)
        self.assertEqual((status, told["status"]), (200, "COMPLETED"), told)
        with urllib.request.urlopen(queued["download_url"]) as answer:
            self.assertEqual(answer.headers["content-type"], "video/mp4")
            film = boxes(answer.read())
        self.assertEqual(list(film)[:2], ["ftyp", "moov"], "it plays while it is received")
        scale, duration = struct.unpack(">II", film["moov/mvhd"][12:20])
        self.assertEqual(duration / scale, 2.0)
        self.assertEqual(struct.unpack(">I", film["moov/trak/mdia/minf/stbl/stsz"][8:12]), (48,))
        width, height = struct.unpack(">II", film["moov/trak/tkhd"][-8:])
        self.assertEqual((width >> 16, height >> 16), (456, 256))
        self.assertIn(b"avcC", film["moov/trak/mdia/minf/stbl/stsd"])
        body = {"model": MODEL, "queue_id": queued["queue_id"]}
        status, answer = self.post("/video/complete", body)
        self.assertEqual((status, json.loads(answer)), (200, {"success": True}))
        with self.assertRaises(urllib.error.HTTPError) as gone:
            urllib.request.urlopen(queued["download_url"])
        self.assertEqual(gone.exception.code, 410)

    def test_a_video_that_is_cancelled_is_stopped_and_costs_nothing(self):
        queued = self.queue(duration="10s", resolution="480p")
        self.server.command("jobs", "cancel", queued["queue_id"])
        status, told = self.until_ended(queued)
        self.assertGreaterEqual(status, 400, told)
        self.assertTrue(told["credits_refunded"], told)

    def test_what_it_cannot_do_is_told_before_anything_is_paid(self):
        picture = "data:image/png;base64," + base64.b64encode(ROCKET).decode()
        wrong = {"duration": "30s", "resolution": "1080p", "aspect_ratio": "21:9", "end_image_url": picture}
        status, answer = self.post("/video/queue", {**CLIP, **wrong})
        self.assertEqual(status, 400, answer)
        details = json.loads(answer)["details"]
        self.assertEqual({it for it in details if it != "_errors"}, set(wrong))
        broken = {"image_url": "data:image/png;base64," + base64.b64encode(ROCKET[:300]).decode()}
        status, answer = self.post("/video/queue", {**CLIP, **broken})
        self.assertEqual(status, 400, answer)
        status, answer = self.post("/video/queue", {**CLIP, "reference_image_urls": [picture]})
        self.assertEqual(status, 400, answer)

    def test_a_video_starts_from_a_picture_at_the_same_price(self):
        picture = "data:image/png;base64," + base64.b64encode(ROCKET).decode()
        models = json.loads(urllib.request.urlopen(self.server.api + "/models?type=video").read())
        limits = {it["id"]: it["model_spec"]["constraints"] for it in models["data"]}
        self.assertTrue(limits[MODEL]["image_input"])
        self.assertEqual(limits[MODEL]["model_type"], "text-to-video")
        queued = self.queue(image_url=picture, aspect_ratio="1:1", prompt="a rocket in space")
        status, told = self.until_ended(queued)
        self.assertEqual((status, told["status"]), (200, "COMPLETED"), told)
        with urllib.request.urlopen(queued["download_url"]) as answer:
            film = boxes(answer.read())
        width, height = struct.unpack(">II", film["moov/trak/tkhd"][-8:])
        self.assertEqual((width >> 16, height >> 16), (256, 256))

    def test_a_picture_is_drawn_anew(self):
        image = base64.b64encode(ROCKET).decode()
        body = {"model": "pictor-edit", "image": image, "prompt": "a green frog", "output_format": "png"}
        deadline = time.monotonic() + READY_SECONDS_MAX
        while True:
            status, file = self.post("/image/edit", body)
            if status != 503 or deadline < time.monotonic():
                break
            # Below the rate limit.
            time.sleep(5)
        self.assertEqual(status, 200, file)
        self.assertEqual(head(file)[:2], (1024, 1024))
        before, after = read(ROCKET), read(file)
        places = [(x, y) for y in range(256) for x in range(256)]
        off = sum(abs(before[y][x][0] - after[4 * y][4 * x][0]) for x, y in places) / len(places)
        self.assertGreater(off, 2, "something is changed")
        self.assertLess(off, 60, "and much is kept")
