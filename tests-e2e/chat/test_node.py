"""Runs the suites for clients on Node, which are in the .mjs files of this folder."""

import pathlib
import unittest

from chat.service import ServiceCase

HERE = pathlib.Path(__file__).parent


class Node(ServiceCase):
    def run_suite(self, name):
        self.upstream.was_overloaded.clear()
        self.run_node_suite(HERE / name, POOR_KEY=self.poor)

    def test_the_openai_client(self):
        self.run_suite("openai.test.mjs")

    def test_the_vercel_ai_sdk(self):
        self.run_suite("ai_sdk.test.mjs")


if __name__ == "__main__":
    unittest.main()
