"""Tests with a killed engine, and with wrong or missing weights."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import urllib.request

import openai

from engine.service import MODELS, EngineCase, user

SAMPLES = pathlib.Path(__file__).parents[2] / "crates" / "formats" / "audio-codec" / "samples"
STORY = "Tell me a long story about a fox in the woods."
SMOLLM = "smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf"


class KilledTest(EngineCase):
    def chat(self, **options):
        options = {"model": "default", "messages": user(STORY), "temperature": 0, **options}
        return self.client().chat.completions.create(**options)

    def test_an_engine_that_is_killed_in_the_middle_is_told_and_comes_back(self):
        self.until_ready(lambda: self.chat(max_completion_tokens=1))
        pieces = []
        before = self.usage_rows()
        stream = self.chat(stream=True, max_completion_tokens=1024)
        with self.assertRaises(openai.APIError):
            for chunk in stream:
                pieces += [choice.delta.content or "" for choice in chunk.choices]
                if len(pieces) == 20:
                    os.kill(self.engine_process(), signal.SIGKILL)
        # Only delivered tokens are charged. The engine died without a usage report, so the service
        # estimates the tokens of the forwarded pieces, each of which has about one.
        charged = self.usage_rows()[len(before) :]
        # Input and output are a row each, and both have the counts of the whole request.
        tokens = max((row.get("completionTokens") or 0 for row in charged), default=0)
        text = "".join(pieces)
        self.assertLessEqual(tokens, len(pieces), text)
        # The engine is restarted and answers.
        answer = self.until_ready(lambda: self.chat(max_completion_tokens=4))
        self.assertLess(0, answer.usage.completion_tokens)

    def usage_rows(self):
        """The usage rows so far, oldest first."""
        admin = self.server.create_key("admin")
        url = f"{self.server.api}/billing/usage?limit=100&sortOrder=asc"
        request = urllib.request.Request(url, headers={"Authorization": f"Bearer {admin}"})
        with urllib.request.urlopen(request) as response:
            rows = json.load(response)["data"]
        return [row.get("inferenceDetails") or {} for row in rows]


class CorruptedTest(EngineCase):
    """The only source of the chat model serves wrong bytes."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.weights_from = folder
        target = pathlib.Path(folder, SMOLLM)
        target.parent.mkdir(parents=True)
        shutil.copyfile(pathlib.Path(MODELS, SMOLLM), target)
        with open(target, "r+b") as file:
            file.seek(1000)
            byte = file.read(1)
            file.seek(1000)
            file.write(bytes([byte[0] ^ 1]))
        super().setUpClass()

    def test_wrong_bytes_are_never_loaded(self):
        binary, place = self.server.binary, self.server._place()
        line = [binary, "models", "pull", "smollm2-135m", *place]
        pulled = subprocess.run(line, capture_output=True, text=True, timeout=120)
        self.assertEqual(pulled.returncode, 1)
        self.assertIn("has another checksum", pulled.stderr)
        installed = pathlib.Path(self.server.folder, "data", "models", SMOLLM)
        self.assertFalse(installed.exists())
        with self.assertRaises(openai.APIStatusError) as caught:
            self.client().chat.completions.create(model="smollm2-135m", messages=user("Hello."))
        self.assertEqual(caught.exception.status_code, 503)
        self.assertIn("smollm2-135m", caught.exception.response.text)
        self.assertLess(0, int(caught.exception.response.headers["retry-after"]))

    def test_the_service_is_ready_all_the_same(self):
        with urllib.request.urlopen(f"{self.server.api}/models") as response:
            ids = [model["id"] for model in json.load(response)["data"]]
        self.assertIn("smollm2-135m", ids)


class HostileSoundTest(EngineCase):
    """Recordings that are truncated, wrong or too large are refused and not charged."""

    def transcribe(self, name, content):
        create = self.client().audio.transcriptions.create
        return create(model="moonshine-tiny", file=(name, content))

    def balance_usd(self):
        report = json.loads(self.server.command("accounts", "show", "default", "--json"))
        return report["balances"]["USD"]

    def check_refused(self, name, content):
        with self.assertRaises(openai.APIStatusError, msg=name) as caught:
            self.transcribe(name, content)
        self.assertIn(caught.exception.status_code, (400, 413, 422), caught.exception)

    def test_what_cannot_be_heard_is_refused_and_free(self):
        samples = sorted(SAMPLES.glob("speech.*"))
        self.assertEqual(len(samples), 9)
        whole = samples[0].read_bytes()
        self.until_ready(lambda: self.transcribe(samples[0].name, whole))
        before = self.balance_usd()
        process = self.engine_process()
        for sample in samples:
            content = sample.read_bytes()
            self.check_refused(sample.name, content[:40])
            # A truncated file of a packet format is a valid shorter recording.
            if sample.suffix in (".wav", ".flac", ".mp3", ".m4a", ".mp4"):
                self.check_refused(sample.name, content[: len(content) // 2])
        self.check_refused("speech.wav", bytes(len(whole)))
        self.check_refused("speech.wav", b"")
        self.check_refused("speech.wav", b"This is a text.")
        self.check_refused("speech.wav", whole + bytes(26_000_000))
        self.assertEqual(self.balance_usd(), before)
        self.assertEqual(self.engine_process(), process)
