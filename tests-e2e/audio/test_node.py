"""Runs the suite for the OpenAI SDK for Node, which is in openai.test.mjs."""

import pathlib
import unittest

from audio.service import SAMPLES, ServiceCase

HERE = pathlib.Path(__file__).parent


class Node(ServiceCase):
    def test_the_openai_client(self):
        self.run_node_suite(HERE / "openai.test.mjs", SAMPLES=str(SAMPLES))


if __name__ == "__main__":
    unittest.main()
