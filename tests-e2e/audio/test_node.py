"""The OpenAI SDK for Node: the file beside this one is a suite of Node's own test runner."""

import os
import pathlib
import subprocess
import unittest

from audio.service import SAMPLES, ServiceCase

HERE = pathlib.Path(__file__).parent
SUITE_SECONDS_MAX = 120


class Node(ServiceCase):
    def test_the_openai_client(self):
        environment = {
            **os.environ,
            "API_URL": self.server.api,
            "API_KEY": self.key,
            "SAMPLES": str(SAMPLES),
        }
        line = ["node", "--test", "--test-reporter=tap", HERE / "openai.test.mjs"]
        run = subprocess.run(
            line, capture_output=True, text=True, timeout=SUITE_SECONDS_MAX, env=environment
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr + self.server.tail())


if __name__ == "__main__":
    unittest.main()
