"""The OpenAI SDK for Node: the file beside this one is a suite of Node's own test runner."""

import os
import pathlib
import subprocess
import unittest

from images.service import ServiceCase
from images.upstream import png

HERE = pathlib.Path(__file__).parent
SUITE_SECONDS_MAX = 120


class Node(ServiceCase):
    def test_the_openai_client(self):
        picture = pathlib.Path(self.server.folder) / "picture.png"
        picture.write_bytes(png(400, 200))
        environment = {
            **os.environ,
            "API_URL": self.server.api,
            "API_KEY": self.key,
            "PICTURE": str(picture),
        }
        line = ["node", "--test", "--test-reporter=tap", HERE / "openai.test.mjs"]
        run = subprocess.run(
            line, capture_output=True, text=True, timeout=SUITE_SECONDS_MAX, env=environment
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr + self.server.tail())


if __name__ == "__main__":
    unittest.main()
