"""Tests of the sandbox of the engine's process."""

import pathlib
import shutil

import openai

from engine.service import MODELS, EngineCase, config, user
from engine.test_files import ENTRY, SMOLLM


class ConfinementTest(EngineCase):
    def chat(self, model):
        create = self.client().chat.completions.create
        return create(model=model, messages=user("Say hi."), max_completion_tokens=4)

    def test_it_gets_no_new_rights_and_has_bounds(self):
        self.until_ready(lambda: self.chat("default"))
        process = pathlib.Path("/proc", str(self.engine_process()))
        lines = (line.split(":\t") for line in (process / "status").read_text().splitlines())
        status = dict(line for line in lines if len(line) == 2)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"], "2", "a filter is on")
        limits = (process / "limits").read_text()
        self.assertNotRegex(limits, r"Max data size +unlimited")
        self.assertRegex(limits, r"Max core file size +0 ")
        self.assertNotIn(b"TOLLGATE", (process / "environ").read_bytes())

    def test_it_cannot_read_what_the_service_keeps_to_itself(self):
        self.until_ready(lambda: self.chat("default"))
        kept = pathlib.Path(self.server.folder, "data", "kept")
        kept.mkdir()
        shutil.copy(pathlib.Path(MODELS, SMOLLM), kept / "kept.gguf")
        entry = ENTRY.format(id="kept", path=kept / "kept.gguf")
        self.server.configure(config(self.weights_from) + entry)
        self.server.command("models", "reload")
        with self.assertRaises(openai.APIStatusError) as caught:
            self.chat("kept")
        self.assertEqual(caught.exception.status_code, 503)
        self.until_ready(lambda: self.chat("default"))
