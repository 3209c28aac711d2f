"""Tests of Codex over a chat provider: its Responses requests are translated, its kinds of tools come back as theirs."""

import json
import unittest

from agents.programs import CODEX, MCP_ARGUMENTS, MCP_COMMAND
from agents.script import GREETING, OVERLOADED, request_call
from agents.service import CHAT_MODEL, GPT_MODEL, AgentCase

RESPONSES = "/v1/responses"
MCP_SERVER = f"\n[mcp_servers.tiny]\ncommand = {json.dumps(MCP_COMMAND)}\nargs = {json.dumps(MCP_ARGUMENTS)}\n"
FEW_RETRIES = "request_max_retries = 1\nstream_max_retries = 1\n"
REQUESTS_MAX = 4
PATCH = """*** Begin Patch
*** Update File: note.txt
@@
 one
-two
+three
*** End Patch
"""


class CodexCase(AgentCase):
    def ask(self, prompt, model=CHAT_MODEL, key=None, more=""):
        """Runs Codex with a prompt, and more lines in its configuration; returns the run and its events."""
        self.set_up("codex", model, key)
        self.home.write(".codex/config.toml", self.home.read(".codex/config.toml") + more)
        arguments = ["exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access", prompt]
        run = self.home.run(CODEX, *arguments)
        return run, [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]

    def ask_well(self, prompt, **options):
        """The last message of a run that ended well."""
        run, events = self.ask(prompt, **options)
        self.assertEqual(run.returncode, 0, self.describe(run))
        items = [it["item"] for it in events if it["type"] == "item.completed"]
        return [it["text"] for it in items if it["type"] == "agent_message"][-1]

    def last_error(self, events):
        return next(it["error"]["message"] for it in reversed(events) if it["type"] == "turn.failed")


class Codex(CodexCase):
    def test_a_prompt_is_answered(self):
        self.assertEqual(self.ask_well("Say hello."), GREETING)
        self.assertEqual([it.status for it in self.recorder.calls(RESPONSES)], [200])

    def test_a_model_that_it_knows_is_answered(self):
        self.assertEqual(self.ask_well("Say hello.", model=GPT_MODEL), GREETING)

    def test_a_file_is_written_by_a_command(self):
        self.ask_well(request_call("exec_command", cmd="echo written by a tool > note.txt"))
        self.assertEqual((self.home.project / "note.txt").read_text(encoding="utf-8"), "written by a tool\n")

    def test_a_file_is_patched_by_its_custom_tool(self):
        place = self.home.project / "note.txt"
        place.write_text("one\ntwo\n", encoding="utf-8")
        self.ask_well(request_call("apply_patch", input=PATCH), model=GPT_MODEL)
        self.assertEqual(place.read_text(encoding="utf-8"), "one\nthree\n")

    def test_a_tool_of_an_mcp_server_is_called(self):
        said = self.ask_well(request_call("mcp__tiny__whisper", text="QUIET"), more=MCP_SERVER)
        self.assertIn("quiet", said)

    def test_a_tool_that_was_searched_for_is_called(self):
        find = request_call("tool_search", query="whisper")
        call = request_call("mcp__tiny__whisper", text="QUIET")
        self.assertIn("quiet", self.ask_well(f"{find} {call}", model=GPT_MODEL, more=MCP_SERVER))

    def test_a_run_is_one_session_in_the_usage(self):
        before = self.count_requests_by_session()
        self.ask_well(request_call("exec_command", cmd="true"))
        self.check_new_session(before, requests=2)

    def test_without_balance_it_asks_once_and_says_so(self):
        run, events = self.ask("Say hello.", key=self.poor)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("Quota exceeded", self.last_error(events), self.describe(run))
        self.assertEqual([it.status for it in self.recorder.calls(RESPONSES)], [429])


class Overloaded(CodexCase):
    """Apart from the others, because a provider that fails is left alone for a while."""

    def test_an_overloaded_provider_ends_it(self):
        run, _ = self.ask(OVERLOADED, more=FEW_RETRIES)
        self.assertNotEqual(run.returncode, 0, self.describe(run))
        made = self.recorder.calls(RESPONSES)
        self.assertNotIn(200, [it.status for it in made])
        self.assertLessEqual(len(made), REQUESTS_MAX, self.describe(run))


if __name__ == "__main__":
    unittest.main()
