"""Tests of upscaling, background removal, erasing and classification with the built-in models."""

import base64
import io
import json
import pathlib
import struct
import time
import urllib.error
import urllib.request
import zlib

from engine.service import READY_SECONDS_MAX, EngineCase

REFERENCE = pathlib.Path(__file__).parents[2] / "crates" / "models" / "engine-onnx" / "tests" / "reference"
ROCKET = (REFERENCE / "tools-rocket.png").read_bytes()
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}


def chunk(kind, content):
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))


def write(width, height, pixel):
    """A PNG with transparency; `pixel` gives the colour of each position."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            rows += bytes(pixel(x, y))
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    return SIGNATURE + body


def head(file):
    """Width, height, and channels."""
    assert file.startswith(SIGNATURE), file[:200]
    width, height, _, colours = struct.unpack(">IIBB", file[16:26])
    return width, height, CHANNELS[colours]


def read(file):
    """Decodes a PNG's pixel rows independently of the service's own code."""
    width, height, channels = head(file)
    at, packed = len(SIGNATURE), b""
    while at < len(file):
        (length,) = struct.unpack(">I", file[at : at + 4])
        if file[at + 4 : at + 8] == b"IDAT":
            packed += file[at + 8 : at + 8 + length]
        at += 12 + length
    samples, stride = zlib.decompress(packed), width * channels
    rows, above = [], bytes(stride)
    for y in range(height):
        start = y * (stride + 1)
        row = bytearray(samples[start + 1 : start + 1 + stride])
        unfilter(samples[start], row, above, channels)
        rows.append([tuple(row[x : x + channels]) for x in range(0, stride, channels)])
        above = row
    return rows


def unfilter(kind, row, above, channels):
    for x in range(len(row)):
        left = row[x - channels] if channels <= x else 0
        corner = above[x - channels] if channels <= x else 0
        nearest = min((left, above[x], corner), key=lambda it: abs(left + above[x] - corner - it))
        guess = (0, left, above[x], (left + above[x]) // 2, nearest)[kind]
        row[x] = (row[x] + guess) & 255


def is_hole(x, y):
    """True near the red ball, whose centre is at (195, 120)."""
    return 135 <= x < 250 and 65 <= y < 180


class PicturesTest(EngineCase):
    def ask(self, path, body):
        """The response, once the model is ready."""
        request = urllib.request.Request(
            f"{self.server.api}{path}",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        deadline = time.monotonic() + READY_SECONDS_MAX
        while True:
            try:
                with urllib.request.urlopen(request, timeout=READY_SECONDS_MAX) as response:
                    return response.status, response.headers, response.read()
            except urllib.error.HTTPError as error:
                is_late = deadline < time.monotonic()
                if error.code not in (429, 503) or is_late:
                    return error.code, error.headers, error.read()
            time.sleep(0.2)

    def test_a_picture_is_enlarged(self):
        image = base64.b64encode(ROCKET).decode()
        small = read(ROCKET)
        for scale, side in [(2, 512), (3, 768)]:
            status, headers, file = self.ask("/image/upscale", {"image": image, "scale": scale})
            self.assertEqual(status, 200, file)
            self.assertEqual(head(file), (side, side, 3))
            self.assertEqual(headers["x-service-model-id"], "upscale-esrgan-compact")
            # The same picture: its pixels are close to those of the larger one.
            large, off = read(file), 0
            for y in range(0, 256, 8):
                for x in range(0, 256, 8):
                    there = large[y * scale + scale // 2][x * scale + scale // 2]
                    off += sum(abs(one - other) for one, other in zip(small[y][x], there, strict=True))
            self.assertLess(off / (32 * 32 * 3), 8)
        body = {"image": image, "scale": 1, "enhance": True}
        status, _, file = self.ask("/image/upscale", body)
        self.assertEqual(status, 200, file)
        self.assertEqual(head(file), (256, 256, 3))

    def test_a_background_is_removed(self):
        image = base64.b64encode(ROCKET).decode()
        status, headers, file = self.ask("/image/background-remove", {"image": image})
        self.assertEqual(status, 200, file)
        self.assertEqual(head(file), (256, 256, 4))
        self.assertEqual(headers["x-service-model-id"], "cutout-u2net")
        rows = read(file)
        corners = [rows[y][x] for y in (0, 255) for x in (0, 255)]
        self.assertEqual(corners, [(0, 0, 0, 0)] * 4)
        self.assertEqual(rows[120][195][3], 255, "the ball is still there")

    def test_something_is_erased_by_the_sdk(self):
        mask = write(256, 256, lambda x, y: (0, 0, 0, 0 if is_hole(x, y) else 255))
        edit = self.client().images.edit
        answer = self.until_ready(
            lambda: edit(
                model="erase-migan",
                image=("rocket.png", io.BytesIO(ROCKET)),
                mask=("mask.png", io.BytesIO(mask)),
                prompt="nothing",
            )
        )
        before, after = read(ROCKET), read(base64.b64decode(answer.data[0].b64_json))
        for y in range(256):
            for x in range(256):
                self.assertTrue(is_hole(x, y) or before[y][x] == after[y][x], f"{x} {y} is no hole")
        red, green, blue = after[120][195]
        self.assertLess(red - max(green, blue), 64, "the ball is gone")

    def test_a_picture_with_a_hole_of_its_own_is_filled(self):
        def pixel(x, y):
            return (x // 2, y // 2, 90, 0 if is_hole(x, y) else 255)

        image = base64.b64encode(write(300, 260, pixel)).decode()
        body = {"model": "erase-migan", "image": image, "prompt": "fill the hole", "output_format": "png"}
        status, headers, file = self.ask("/image/edit", body)
        self.assertEqual(status, 200, file)
        self.assertEqual(head(file), (300, 260, 3))
        self.assertEqual(headers["x-service-model-id"], "erase-migan")
        # The classifier is downloaded separately and may not be ready yet.
        self.assertIn(headers["x-service-safe-mode"], ("on", "unavailable"))

    def test_what_makes_no_sense_is_told(self):
        image = base64.b64encode(ROCKET).decode()
        body = {"model": "erase-migan", "image": image, "prompt": "a blue sky"}
        status, _, answer = self.ask("/image/edit", body)
        self.assertEqual(status, 400, answer)
        self.assertIn("ignores the prompt", answer.decode())
        body = {"image": image, "model": "erase-migan"}
        status, _, answer = self.ask("/image/background-remove", body)
        self.assertEqual(status, 400, answer)

    def test_a_picture_has_the_size_asked_for(self):
        body = {"model": "pictor-icons", "prompt": "a red apple", "steps": 2, "seed": 3}
        body |= {"return_binary": True, "format": "png"}
        for width, height in [(1024, 1024), (512, 288), (1280, 1280), (100, 60), (1, 1280), (1, 1)]:
            asked = {**body, "width": width, "height": height}
            status, _, file = self.ask("/image/generate", asked)
            self.assertEqual(status, 200, file)
            self.assertEqual(head(file)[:2], (width, height))
        generate = self.client().images.generate
        for size in ("256x256", "1536x1024"):
            answer = self.until_ready(lambda size=size: generate(model="pictor-icons", prompt="a red apple", size=size))
            width, height, _ = head(base64.b64decode(answer.data[0].b64_json))
            self.assertEqual(f"{width}x{height}", size)

    def test_an_edit_without_a_model_reads_its_prompt(self):
        image = base64.b64encode(ROCKET).decode()
        body = {"image": image, "prompt": "a blue rocket", "resolution": "1K"}
        status, headers, file = self.ask("/image/edit", body)
        self.assertEqual(status, 200, file)
        self.assertEqual(headers["x-service-model-id"], "pictor-edit")
        self.assertEqual(head(file), (1024, 1024, 3))

    def test_pictures_that_are_made_are_judged(self):
        body = {"model": "pictor-icons", "prompt": "a red fox", "steps": 1, "return_binary": True}
        deadline = time.monotonic() + READY_SECONDS_MAX
        while True:
            status, headers, file = self.ask("/image/generate", body)
            self.assertEqual(status, 200, file)
            if headers["x-service-safe-mode"] == "on" or deadline < time.monotonic():
                break
        self.assertEqual(headers["x-service-safe-mode"], "on")
        self.assertEqual(headers["x-service-is-blurred"], "false")
        status, headers, file = self.ask("/image/generate", {**body, "safe_mode": False})
        self.assertEqual(status, 200, file)
        self.assertEqual(headers["x-service-safe-mode"], "off")
