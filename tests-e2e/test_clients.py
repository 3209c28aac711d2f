"""Tests of unmodified clients with the running binary: the OpenAI SDKs for Python and Node, and curl."""

import json
import pathlib
import subprocess
import unittest

import openai
from catalogue import CONFIG
from server import Server

HERE = pathlib.Path(__file__).parent
CLIENT_SECONDS_MAX = 60


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(config=CONFIG))
        cls.key = cls.server.create_key("inference")

    def test_the_python_client_lists_the_models(self):
        with openai.OpenAI(base_url=self.server.api, api_key=self.key, max_retries=0) as client:
            ids = [model.id for model in client.models.list()]
        self.assertIn("small-text", ids)

    def test_the_python_client_shows_our_words_when_a_model_is_unknown(self):
        with openai.OpenAI(base_url=self.server.api, api_key=self.key, max_retries=0) as client:
            with self.assertRaises(openai.NotFoundError) as raised:
                client.models.retrieve("small-txt")
        self.assertIn("small-text", str(raised.exception.body))

    def test_the_node_client_lists_the_models(self):
        line = ["node", HERE / "list_models.mjs", self.server.api, self.key]
        run = subprocess.run(line, capture_output=True, text=True, timeout=CLIENT_SECONDS_MAX)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("small-text", json.loads(run.stdout))


if __name__ == "__main__":
    unittest.main()
