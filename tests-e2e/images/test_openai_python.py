"""Tests the unmodified OpenAI SDK for Python: image generation, edits and variations with exact charges."""

import base64
import io
import json
import os
import re
import struct
import tempfile
import threading
import unittest
import zlib

import openai

from images.service import ServiceCase
from images.upstream import png, size_of


class PythonCase(ServiceCase):
    def client(self, **options):
        options = {"max_retries": 0, **options}
        client = openai.OpenAI(base_url=self.server.api, api_key=self.key, **options)
        self.addCleanup(client.close)
        return client

    def costs(self, expected):
        """A context that asserts the exact amount spent."""
        return Costs(self, expected)


class Costs:
    def __init__(self, case, expected):
        self.case, self.expected = case, expected

    def __enter__(self):
        self.before = self.case.balance()

    def __exit__(self, kind, *_):
        if kind is None:
            spent = self.before - self.case.balance()
            self.case.assertAlmostEqual(spent, self.expected, places=9)


def upload(picture, name="picture.png"):
    file = io.BytesIO(picture)
    file.name = name
    return file


class Generation(PythonCase):
    def test_a_picture_is_made_and_costs_its_price(self):
        with self.costs(0.01):
            answer = self.client().images.generate(prompt="a fox", model="painter", size="512x512")
        self.assertEqual(size_of(base64.b64decode(answer.data[0].b64_json)), (512, 512))
        self.assertIsNone(answer.data[0].url)
        self.assertEqual(self.upstream.requests[-1]["size"], "512x512")

    def test_a_name_of_openais_own_means_the_default_model(self):
        with self.costs(0.01):
            self.client().images.generate(prompt="a fox", model="gpt-image-1")
        self.assertEqual(self.upstream.requests[-1]["model"], "painter")

    def test_an_address_is_the_picture_itself(self):
        answer = self.client().images.generate(
            prompt="a fox", model="painter", response_format="url", output_format="webp"
        )
        head, data = answer.data[0].url.split(",", 1)
        self.assertEqual(head, "data:image/webp;base64")
        self.assertEqual(base64.b64decode(data)[8:12], b"WEBP")

    def test_quality_makes_the_price(self):
        for quality, price in (("low", 0.02), ("hd", 0.05)):
            with self.subTest(quality), self.costs(price):
                self.client().images.generate(prompt="a fox", model="tiered", quality=quality)

    def test_failures_cost_nothing(self):
        with self.costs(0):
            with self.assertRaises(openai.InternalServerError):
                self.client().images.generate(prompt="fail", model="painter")
            with self.assertRaises(openai.BadRequestError) as raised:
                self.client().images.generate(prompt="reject", model="painter")
        self.assertIn("The upstream rejects this.", raised.exception.response.text)

    def test_what_is_forbidden_is_black_and_free(self):
        with self.costs(0):
            answer = self.client().images.with_raw_response.generate(
                prompt="forbidden", model="painter", size="256x256"
            )
        self.assertEqual(answer.headers["x-service-is-content-violation"], "true")
        picture = base64.b64decode(answer.parse().data[0].b64_json)
        self.assertEqual(size_of(picture), (256, 256))

    def test_every_variant_is_billed(self):
        with self.costs(0.03):
            body = {"model": "painter", "prompt": "a fox", "variants": 3, "format": "png"}
            status, _, content = self.post("/image/generate", body)
        self.assertEqual(status, 200, content[:300])
        images = json.loads(content)["images"]
        self.assertEqual([size_of(base64.b64decode(it)) for it in images], [(1024, 1024)] * 3)


class Edits(PythonCase):
    def test_a_picture_is_edited(self):
        with self.costs(0.04):
            answer = self.client().images.edit(image=upload(png(400, 200)), prompt="make it blue", model="editor")
        self.assertEqual(size_of(base64.b64decode(answer.data[0].b64_json)), (1456, 720))
        self.assertEqual(self.upstream.requests[-1]["image[]"], [("image-1.png", (400, 200))])

    def test_several_pictures_and_a_mask(self):
        pictures = [upload(png(300, 300)), upload(png(256, 256))]
        with self.costs(0.045):
            self.client().images.edit(image=pictures, mask=upload(png(300, 300)), prompt="x", model="editor")
        sent = self.upstream.requests[-1]
        self.assertEqual([side for _, side in sent["image[]"]], [(300, 300), (256, 256)])
        self.assertEqual(len(sent["mask"]), 1)

    def test_a_picture_is_varied(self):
        with self.costs(0.04):
            answer = self.client().images.create_variation(image=upload(png(256, 256)))
        self.assertTrue(answer.data[0].b64_json)

    def test_eight_of_the_largest_pictures_at_once_take_little_memory_here(self):
        largest = png(7680, 4320)
        before = self.peak_bytes()
        outcomes = []

        def edit():
            try:
                self.client(max_retries=8).images.edit(
                    image=upload(largest), prompt="make it blue", model="editor", timeout=300
                )
                outcomes.append("edited")
            except openai.APIError as error:
                outcomes.append(str(error))

        with self.costs(8 * 0.04):
            callers = [threading.Thread(target=edit) for _ in range(8)]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()
        self.assertEqual(outcomes, ["edited"] * 8)
        # One of them takes 133 million bytes when decoded.
        self.assertLess(self.peak_bytes() - before, 100_000_000)

    def peak_bytes(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024

    def test_hostile_files_are_refused_and_free(self):
        bomb = bytearray(png(256, 256))
        bomb[16:24] = struct.pack(">II", 60_000, 60_000)
        bomb[29:33] = struct.pack(">I", zlib.crc32(bytes(bomb[12:29])))
        files = {
            "a bomb": (bytes(bomb), "IMAGE_TOO_LARGE"),
            "a small one": (png(64, 64), "IMAGE_TOO_SMALL"),
            "half of one": (png(256, 256)[:200], "CORRUPTED_IMAGE"),
            "a drawing": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "INVALID_IMAGE_FORMAT"),
            "an archive behind one": (png(256, 256) + b"PK\x03\x04", "INVALID_IMAGE_FORMAT"),
        }
        with self.costs(0):
            for name, (content, code) in files.items():
                with self.subTest(name), self.assertRaises(openai.BadRequestError) as raised:
                    self.client().images.edit(image=upload(content), prompt="x", model="editor")
                self.assertEqual(raised.exception.response.json()["code"], code)


class Command(PythonCase):
    def test_a_picture_at_the_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "fox.png")
            told = self.server.command("image", "a fox", "-o", file, "--width", "640")
            self.assertIn("640 × 1024", told)
            with open(file, "rb") as written:
                self.assertEqual(size_of(written.read()), (640, 1024))


if __name__ == "__main__":
    unittest.main()
