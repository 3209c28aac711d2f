"""Tests of opencode over chat completions and over Messages."""

import json
import unittest

from agents.programs import MCP_ARGUMENTS, MCP_COMMAND, OPENCODE
from agents.script import GREETING, OVERLOADED, request_call
from agents.service import CHAT_MODEL, CLAUDE_MODEL, AgentCase

CONFIG = ".config/opencode/opencode.json"
# Without these, opencode waits for hosts that it cannot reach here.
OFFLINE = ("AUTOUPDATE", "DEFAULT_PLUGINS", "LSP_DOWNLOAD", "MODELS_FETCH")
# The request, and how often its SDK and opencode itself repeat it.
REQUESTS_MAX = 12


class OpencodeCase(AgentCase):
    # The package of its SDK that speaks the protocol.
    package = "@ai-sdk/openai-compatible"

    def ask(self, prompt, model, key=None):
        """Runs opencode with a prompt; returns the run and its events."""
        self.set_up("opencode", model, key)
        config = json.loads(self.home.read(CONFIG))
        config["provider"]["tollgate"]["npm"] = self.package
        config["mcp"] = {"tiny": {"type": "local", "command": [MCP_COMMAND, *MCP_ARGUMENTS]}}
        self.home.write(CONFIG, json.dumps(config))
        environment = {f"OPENCODE_DISABLE_{name}": "1" for name in OFFLINE}
        # With a title of ours it does not ask the model for one.
        run = self.home.run(OPENCODE, "run", "--title", "test", "--format", "json", prompt, **environment)
        return run, [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]

    def ask_well(self, prompt, model):
        """The last text of a run that ended well."""
        run, events = self.ask(prompt, model)
        self.assertEqual(run.returncode, 0, self.describe(run))
        texts = [it["part"]["text"] for it in events if it["type"] == "text"]
        self.assertTrue(texts, self.describe(run))
        return texts[-1]


class OpencodeWork:
    """What works over every protocol; `path` and `model` are those of the protocol."""

    path, model = None, None

    def test_a_prompt_is_answered(self):
        self.assertEqual(self.ask_well("Say hello.", self.model), GREETING)
        self.assertEqual([it.status for it in self.recorder.calls(self.path)], [200])

    def test_a_file_is_written_by_a_tool(self):
        place = self.home.project / "note.txt"
        self.ask_well(request_call("write", filePath=str(place), content="written by a tool\n"), self.model)
        self.assertEqual(place.read_text(encoding="utf-8"), "written by a tool\n")

    def test_a_tool_of_an_mcp_server_is_called(self):
        said = self.ask_well(request_call("tiny_whisper", text="QUIET"), self.model)
        self.assertEqual(said, "The tool says: quiet")

    def test_without_balance_it_asks_once_and_shows_our_words(self):
        run, events = self.ask("Say hello.", self.model, key=self.poor)
        told = next(it["error"]["data"]["message"] for it in events if it["type"] == "error")
        self.assertIn("Insufficient USD", told, self.describe(run))
        self.assertEqual([it.status for it in self.recorder.calls(self.path)], [402])


class Chat(OpencodeWork, OpencodeCase):
    path, model = "/v1/chat/completions", CHAT_MODEL

    def test_a_run_is_one_session_in_the_usage(self):
        before = self.count_requests_by_session()
        self.ask_well(request_call("tiny_whisper", text="QUIET"), self.model)
        self.check_new_session(before, requests=2)


class Messages(OpencodeWork, OpencodeCase):
    package = "@ai-sdk/anthropic"
    path, model = "/v1/messages", CHAT_MODEL

    def test_a_prompt_is_answered_over_an_anthropic_provider(self):
        self.assertEqual(self.ask_well("Say hello.", CLAUDE_MODEL), GREETING)
        self.assertEqual(len(self.messages.requests), 1)


class Overloaded(OpencodeCase):
    """Apart from the others, because a provider that fails is left alone for a while."""

    def test_an_overloaded_provider_ends_it(self):
        run, events = self.ask(OVERLOADED, CHAT_MODEL)
        self.assertTrue([it for it in events if it["type"] == "error"], self.describe(run))
        made = self.recorder.calls("/v1/chat/completions")
        self.assertNotIn(200, [it.status for it in made])
        self.assertLessEqual(len(made), REQUESTS_MAX, self.describe(run))


if __name__ == "__main__":
    unittest.main()
