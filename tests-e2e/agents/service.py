"""The service under test with scripted upstreams of both protocols, and a home folder for an agent."""

import json
import tempfile
import unittest
import urllib.request

from server import Server

from agents.programs import AgentHome
from agents.recorder import Recorder, RefusingProxy
from agents.upstream import ChatUpstream, MessagesUpstream

# A model behind OpenAI's chat protocol: what agents send in their own protocol is translated.
CHAT_MODEL = "scripted-coder"
# The same under a name whose prompts and tools Codex knows.
GPT_MODEL = "gpt-5.5"
# A model behind Anthropic's protocol, whose provider has another name for it.
CLAUDE_MODEL, UPSTREAM_CLAUDE_MODEL = "claude-opus-5-5", "upstream-claude"
# A model whose context is smaller than the prompt that an agent sends before the user says anything.
TINY_MODEL = "scripted-tiny"
CONFIG = """
[[provider]]
id = "chat"
kind = "openai"
base_url = "{chat_url}"

[[provider]]
id = "messages"
kind = "anthropic"
base_url = "{messages_url}"

[[model]]
id = "{chat_model}"
type = "text"
provider = "chat"
tier = "XS"
context_tokens = 200000
max_completion_tokens = 32000
aliases = ["{gpt_model}"]
capabilities = ["tools", "reasoning", "vision"]
price = {{ input_usd_per_million = "1.00", output_usd_per_million = "4.00" }}

[[model]]
id = "{tiny_model}"
type = "text"
provider = "chat"
tier = "XS"
context_tokens = 4096
capabilities = ["tools"]
price = {{ input_usd_per_million = "1.00", output_usd_per_million = "4.00" }}

[[model]]
id = "{claude_model}"
type = "text"
provider = "messages"
upstream_id = "{upstream_claude_model}"
tier = "XS"
context_tokens = 200000
max_completion_tokens = 128000
capabilities = ["tools", "reasoning", "vision"]
price = {{ input_usd_per_million = "1.00", output_usd_per_million = "4.00", cache_input_usd_per_million = "0.10" }}
"""


class AgentCase(unittest.TestCase):
    """Starts one service for all tests of a class, and a fresh home and recorder for each test."""

    @classmethod
    def setUpClass(cls):
        cls.chat = cls.enterClassContext(ChatUpstream())
        cls.messages = cls.enterClassContext(MessagesUpstream())
        config = CONFIG.format(
            chat_url=cls.chat.url,
            messages_url=cls.messages.url,
            chat_model=CHAT_MODEL,
            gpt_model=GPT_MODEL,
            tiny_model=TINY_MODEL,
            claude_model=CLAUDE_MODEL,
            upstream_claude_model=UPSTREAM_CLAUDE_MODEL,
        )
        cls.server = cls.enterClassContext(Server(config=config))
        cls.key = cls.server.create_key("inference")
        cls.admin = cls.server.create_key("admin")
        cls.server.create_account("poor")
        cls.poor = cls.server.create_key("inference", account="poor")

    def setUp(self):
        self.chat.requests.clear()
        self.messages.requests.clear()
        self.recorder = self.enterContext(Recorder(self.server.url))
        proxy = self.enterContext(RefusingProxy())
        folder = self.enterContext(tempfile.TemporaryDirectory(prefix="tollgate-agent-"))
        self.home = AgentHome(folder, proxy.url)

    def set_up(self, agent, model, key=None):
        self.home.set_up(agent, self.recorder.url, key or self.key, model)

    def count_requests_by_session(self):
        """The requests of each session in the usage, by the session's digest."""
        request = urllib.request.Request(f"{self.server.api}/billing/usage-analytics?groupBy=session")
        request.add_header("Authorization", f"Bearer {self.admin}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return {it["sessionId"]: it["requests"] for it in json.load(answer)["bySession"]}

    def check_new_session(self, before, requests):
        """Asserts that there is one more session than before, with this many requests."""
        new = {name: count for name, count in self.count_requests_by_session().items() if name not in before}
        self.assertEqual(list(new.values()), [requests], new)
        self.assertRegex(next(iter(new)), "^[0-9a-f]{16}$")

    def describe(self, run):
        """What an agent said and what passed between it and the service, for the message of a failed test."""
        passed = [f"{it.method} {it.path} {it.status} {it.answer[:500]}" for it in self.recorder.exchanges]
        return "\n".join([str(run.args), run.stdout, run.stderr, *passed, self.server.tail()])
