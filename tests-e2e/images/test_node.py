"""Runs the suite for the OpenAI SDK for Node, which is in openai.test.mjs."""

import pathlib
import unittest

from images.service import ServiceCase
from images.upstream import png

HERE = pathlib.Path(__file__).parent


class Node(ServiceCase):
    def test_the_openai_client(self):
        picture = pathlib.Path(self.server.folder) / "picture.png"
        picture.write_bytes(png(400, 200))
        self.run_node_suite(HERE / "openai.test.mjs", PICTURE=str(picture))


if __name__ == "__main__":
    unittest.main()
