"""The clients that run on Node: each file beside this one is a suite of Node's own test runner."""

import os
import pathlib
import subprocess
import unittest

from chat.service import ServiceCase

HERE = pathlib.Path(__file__).parent
SUITE_SECONDS_MAX = 120


class Node(ServiceCase):
    def run_suite(self, name):
        self.upstream.was_overloaded.clear()
        environment = {
            **os.environ,
            "API_URL": self.server.api,
            "API_KEY": self.key,
            "POOR_KEY": self.poor,
        }
        line = ["node", "--test", "--test-reporter=tap", HERE / name]
        run = subprocess.run(
            line, capture_output=True, text=True, timeout=SUITE_SECONDS_MAX, env=environment
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr + self.server.tail())

    def test_the_openai_client(self):
        self.run_suite("openai.test.mjs")

    def test_the_vercel_ai_sdk(self):
        self.run_suite("ai_sdk.test.mjs")


if __name__ == "__main__":
    unittest.main()
