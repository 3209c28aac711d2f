"""Tests of Claude Code with a built-in model. Its own prompt of 47 kB is longer than the context of small models, so it
gets a short one and no tools, as `claude --bare` allows."""

import json
import pathlib
import tempfile
import unittest

from agents.programs import CLAUDE, AgentHome
from agents.recorder import RefusingProxy

from engine.service import MODELS, EngineCase, user

ARGUMENTS = ["--bare", "--tools", "", "--system-prompt", "You answer in one short sentence."]
# More than a sentence; it bounds a small model that does not stop by itself.
ANSWER_TOKENS_MAX = "400"


class ClaudeCodeTest(EngineCase):
    def check_answer(self, model):
        """Asks for a word through Claude Code and checks that something came."""
        asked = {"model": model, "messages": user("Hi"), "max_completion_tokens": 1}
        self.until_ready(lambda: self.client().chat.completions.create(**asked))
        proxy = self.enterContext(RefusingProxy())
        home = AgentHome(self.enterContext(tempfile.TemporaryDirectory()), proxy.url)
        home.set_up("claude-code", self.server.url, self.key, model)
        environment = {
            # `--bare` takes this credential alone.
            "ANTHROPIC_API_KEY": self.key,
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": ANSWER_TOKENS_MAX,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        line = ["-p", "Say hello.", "--output-format", "json", *ARGUMENTS]
        run = home.run(CLAUDE, *line, **environment)
        told = run.stdout + run.stderr + self.server.tail()
        answer = json.loads(run.stdout)
        self.assertGreater(answer["usage"]["input_tokens"], 10, told)
        self.assertGreater(answer["usage"]["output_tokens"], 0, told)
        # A small model sometimes talks until the bound, again and again; the agent then says so.
        if (answer.get("api_error") or "").startswith("max_output_token"):
            return
        self.assertEqual(run.returncode, 0, told)
        self.assertFalse(answer["is_error"], told)
        self.assertTrue(answer["result"].strip(), told)

    def test_the_default_model_answers(self):
        self.check_answer("smollm2-135m")

    @unittest.skipUnless(MODELS and pathlib.Path(MODELS, "qwen2.5-coder-0.5b").is_dir(), "not downloaded")
    def test_a_model_for_code_answers(self):
        self.server.command("models", "pull", "qwen2.5-coder-0.5b")
        self.check_answer("qwen2.5-coder-0.5b")


if __name__ == "__main__":
    unittest.main()
