"""Tests with the operator's own GGUF files, in the models directory or named by their path."""

import json
import os
import pathlib
import tempfile
import urllib.request

import openai

from engine.service import MODELS, EngineCase, config, user

SMOLLM = "smollm2-135m/SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTION = user("What is the capital of France? Answer in one sentence.")
ENTRY = """
[[model]]
id = "{id}"
type = "text"
provider = "local"
upstream_id = "{path}"
context_tokens = 2048
price = {{ input_usd_per_million = "1", output_usd_per_million = "1" }}
"""


class FilesTest(EngineCase):
    @classmethod
    def setUpClass(cls):
        # A folder outside the service's own is readable only if it exists when the engine starts.
        elsewhere = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        super().setUpClass()
        file = pathlib.Path(MODELS, SMOLLM)
        os.symlink(file, elsewhere / "elsewhere.gguf")
        cut = file.read_bytes()[:50_000_000]
        (elsewhere / "cut.gguf").write_bytes(cut)
        dropped = pathlib.Path(cls.server.folder, "data", "models")
        dropped.mkdir(exist_ok=True)
        os.symlink(file, dropped / "My-Model.Q4.gguf")
        (dropped / "broken.gguf").write_bytes(cut)
        entries = [("by-path", "elsewhere"), ("cut-by-path", "cut")]
        entries = [ENTRY.format(id=id, path=elsewhere / f"{stem}.gguf") for id, stem in entries]
        cls.server.configure(config(cls.weights_from) + "".join(entries))
        cls.server.command("models", "reload")

    def chat(self, model):
        create = self.client().chat.completions.create
        options = {"temperature": 0, "max_completion_tokens": 24}
        return create(model=model, messages=QUESTION, **options)

    def offered(self):
        with urllib.request.urlopen(f"{self.server.api}/models") as response:
            return {model["id"]: model for model in json.load(response)["data"]}

    def test_a_dropped_file_is_offered_and_answers(self):
        record = self.offered()["My-Model.Q4"]
        self.assertEqual(record["context_length"], 8192)
        self.assertLess(0, record["model_spec"]["pricing"]["output"]["usd"])
        answer = self.until_ready(lambda: self.chat("My-Model.Q4"))
        self.assertIn("Paris", answer.choices[0].message.content)

    def test_a_file_named_by_its_path_answers(self):
        answer = self.until_ready(lambda: self.chat("by-path"))
        self.assertIn("Paris", answer.choices[0].message.content)

    def test_a_broken_file_is_told_as_such_and_ends_nothing(self):
        self.until_ready(lambda: self.chat("by-path"))
        process = self.engine_process()
        self.assertNotIn("broken", self.offered())
        for _ in range(3):
            with self.assertRaises(openai.APIStatusError) as caught:
                self.chat("cut-by-path")
            self.assertEqual(caught.exception.status_code, 503)
        self.assertEqual(self.engine_process(), process)
        listed = json.loads(self.server.command("models", "list", "--json"))
        weights = {model["id"]: model["weights"] for model in listed}
        self.assertIn("broken: it is truncated", weights["cut-by-path"])
        self.assertTrue(weights["by-path"].startswith("ready"), weights)
        self.assertIn("broken: it is truncated", weights["broken"])
