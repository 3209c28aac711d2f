"""Tests of Claude Code: over a chat provider, where its requests are translated, and over Anthropic's protocol."""

import json
import unittest

from agents.programs import CLAUDE, MCP_ARGUMENTS, MCP_COMMAND
from agents.script import GREETING, OVERLOADED, request_call
from agents.service import CHAT_MODEL, CLAUDE_MODEL, TINY_MODEL, UPSTREAM_CLAUDE_MODEL, AgentCase

MESSAGES, COUNT = "/v1/messages", "/v1/messages/count_tokens"
# What `/context` sends at least; a key is blocked after 20 failures.
CONTEXT_COUNTS_MIN = 20
RETRIES = 2


class ClaudeCase(AgentCase):
    def ask(self, prompt, *arguments, model=CHAT_MODEL, key=None, **environment):
        """Runs Claude Code with a prompt; returns the run and the JSON that it prints."""
        self.set_up("claude-code", model, key)
        environment = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", **environment}
        run = self.home.run(CLAUDE, "-p", prompt, "--output-format", "json", *arguments, **environment)
        try:
            return run, json.loads(run.stdout)
        except ValueError:
            self.fail(self.describe(run))

    def ask_well(self, prompt, *arguments, **options):
        run, told = self.ask(prompt, *arguments, **options)
        self.assertEqual((run.returncode, told["is_error"]), (0, False), self.describe(run))
        return told


class ClaudeWork:
    """What works over every provider; `model` is that of the provider."""

    model = None

    def test_a_prompt_is_answered_with_its_usage(self):
        told = self.ask_well("Say hello.", model=self.model)
        self.assertEqual(told["result"], GREETING)
        self.assertEqual((told["usage"]["input_tokens"], told["usage"]["output_tokens"]), (1000, 10))
        self.assertEqual(len(self.recorder.calls(MESSAGES)), 1)

    def test_a_file_is_written_by_a_tool(self):
        place = self.home.project / "note.txt"
        prompt = request_call("Write", file_path=str(place), content="written by a tool\n")
        told = self.ask_well(prompt, "--allowedTools", "Write", model=self.model)
        self.assertEqual(place.read_text(encoding="utf-8"), "written by a tool\n")
        self.assertIn("The tool says: File created", told["result"])

    def test_a_file_is_read_and_then_edited(self):
        place = self.home.project / "note.txt"
        place.write_text("one\ntwo\n", encoding="utf-8")
        read = request_call("Read", file_path=str(place))
        edit = request_call("Edit", file_path=str(place), old_string="two", new_string="three")
        self.ask_well(f"{read} {edit}", "--allowedTools", "Read", "Edit", model=self.model)
        self.assertEqual(place.read_text(encoding="utf-8"), "one\nthree\n")

    def test_a_tool_of_an_mcp_server_is_found_and_called(self):
        servers = {"mcpServers": {"tiny": {"command": MCP_COMMAND, "args": MCP_ARGUMENTS}}}
        # Tools of MCP servers are deferred: the model asks for their schema before it calls them.
        find = request_call("ToolSearch", query="select:mcp__tiny__whisper")
        call = request_call("mcp__tiny__whisper", text="QUIET")
        arguments = ["--mcp-config", json.dumps(servers), "--allowedTools", "ToolSearch", "mcp__tiny__whisper"]
        told = self.ask_well(f"{find} {call}", *arguments, model=self.model)
        self.assertEqual(told["result"], "The tool says: quiet")

    def test_counting_the_context_is_free_and_does_not_block_the_key(self):
        told = self.ask_well("/context", model=self.model)
        self.assertIn("Context Usage", told["result"])
        counted = self.recorder.calls(COUNT)
        self.assertGreater(len(counted), CONTEXT_COUNTS_MIN)
        self.assertEqual({it.status for it in counted}, {200})
        self.assertEqual(self.ask_well("Say hello.", model=self.model)["result"], GREETING)

    def test_without_balance_it_asks_once_and_shows_our_words(self):
        run, told = self.ask("Say hello.", model=self.model, key=self.poor)
        self.assertTrue(told["is_error"], self.describe(run))
        self.assertIn("Insufficient USD", told["result"])
        self.assertEqual([it.status for it in self.recorder.calls(MESSAGES)], [402])


class Translated(ClaudeWork, ClaudeCase):
    model = CHAT_MODEL

    def test_a_run_is_one_session_in_the_usage(self):
        before = self.count_requests_by_session()
        prompt = request_call("Write", file_path=str(self.home.project / "note.txt"), content="x")
        self.ask_well(prompt, "--allowedTools", "Write")
        self.check_new_session(before, requests=2)

    def test_a_prompt_beyond_the_context_is_told_as_such(self):
        run, told = self.ask("Say hello.", model=TINY_MODEL)
        self.assertTrue(told["is_error"], self.describe(run))
        self.assertRegex(told["result"], "(?i)prompt is too long")
        self.assertEqual([it.status for it in self.recorder.calls(MESSAGES)], [400])
        self.assertEqual(self.chat.requests, [])

    def test_the_models_are_listed_for_it(self):
        told = self.ask_well("Say hello.", CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY="1")
        self.assertEqual(told["result"], GREETING)
        self.assertEqual([it.status for it in self.recorder.calls("/v1/models")], [200])

    def test_the_base_url_of_the_specification_works_too(self):
        self.ask_well("Say hello.")
        self.home.exports += f"export ANTHROPIC_BASE_URL={self.recorder.url}/api\n"
        run = self.home.run(CLAUDE, "-p", "Say hello.")
        self.assertEqual(run.stdout.strip(), GREETING, self.describe(run))
        self.assertEqual(self.recorder.exchanges[-1].path.split("?")[0], "/api/v1/messages")


class PassedThrough(ClaudeWork, ClaudeCase):
    model = CLAUDE_MODEL

    def test_the_body_arrives_unchanged_but_for_the_model(self):
        place = self.home.project / "note.txt"
        prompt = request_call("Write", file_path=str(place), content="written\n")
        self.ask_well(prompt, "--allowedTools", "Write", model=self.model)
        sent = [it.body for it in self.recorder.calls(MESSAGES)]
        named = [f'"model":"{it}"'.encode() for it in (CLAUDE_MODEL, UPSTREAM_CLAUDE_MODEL)]
        self.assertEqual(len(sent), 2)
        self.assertEqual([it.raw for it in self.messages.requests], [it.replace(*named, 1) for it in sent])

    def test_the_betas_arrive_and_the_key_does_not(self):
        self.ask_well("Say hello.", model=self.model)
        sent, got = self.recorder.calls(MESSAGES)[0].headers, self.messages.requests[0].headers
        for name in ("anthropic-beta", "anthropic-version"):
            self.assertEqual(got[name], sent[name])
        self.assertNotIn(self.key, str(got))


class Overloaded(ClaudeCase):
    """Apart from the others, because a provider that fails is left alone for a while."""

    def check_overload(self, model):
        run, told = self.ask(OVERLOADED, model=model, CLAUDE_CODE_MAX_RETRIES=str(RETRIES))
        self.assertTrue(told["is_error"], self.describe(run))
        made = self.recorder.calls(MESSAGES)
        self.assertNotIn(200, [it.status for it in made])
        # Each try may be made once more without a stream.
        self.assertLessEqual(len(made), 2 * (RETRIES + 1), self.describe(run))
        return made

    def test_an_overloaded_chat_provider_ends_it(self):
        made = self.check_overload(CHAT_MODEL)
        self.assertLessEqual({it.status for it in made}, {429, 503})

    def test_an_overloaded_anthropic_provider_ends_it(self):
        self.check_overload(CLAUDE_MODEL)


if __name__ == "__main__":
    unittest.main()
