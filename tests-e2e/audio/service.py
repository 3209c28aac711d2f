"""The service under test with models that speak and listen, and its callers' keys."""

import json
import pathlib
import unittest
import urllib.request

from audio.upstream import Upstream
from server import Server

CONFIG = """
[[provider]]
id = "scripted"
kind = "openai"
dialect = "openai"
base_url = "{url}"

[[model]]
id = "tts-small"
type = "tts"
provider = "scripted"
traits = ["default"]
voices = ["ada", "ben"]
formats = ["mp3", "opus", "aac", "flac", "wav", "pcm"]
supports_prompt = true
price = {{ input_usd_per_million_characters = "10.00" }}

[[model]]
id = "asr-small"
type = "asr"
provider = "scripted"
traits = ["default"]
price = {{ usd_per_audio_second = "0.0001" }}
"""
CHARACTER_USD = 10e-6
SECOND_USD = 0.0001

SAMPLES = pathlib.Path(__file__).parents[2] / "crates" / "sound" / "samples"


class ServiceCase(unittest.TestCase):
    """Starts one service for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.upstream = cls.enterClassContext(Upstream())
        cls.server = cls.enterClassContext(Server(config=CONFIG.format(url=cls.upstream.url)))
        cls.key = cls.server.create_key("inference")
        cls.admin = cls.server.create_key("admin")

    def balance(self):
        request = urllib.request.Request(f"{self.server.api}/billing/balance")
        request.add_header("Authorization", f"Bearer {self.admin}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)["balances"]["usd"]
