"""The service under test with speech and transcription models, and API keys for its clients."""

import pathlib

from scripted import ScriptedService

from audio.upstream import Upstream

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

SAMPLES = pathlib.Path(__file__).parents[2] / "crates" / "formats" / "audio-probe" / "samples"


class ServiceCase(ScriptedService):
    upstream_class = Upstream
    config = CONFIG
