"""An operator has the service fetch a built-in model, from the console."""

import os
import pathlib
import subprocess

from engine.service import EngineCase

SUITE = pathlib.Path(__file__).parent.parent / "console" / "weights.test.mjs"
SUITE_SECONDS_MAX = 240


class Console(EngineCase):
    def test_an_operator_pulls_a_model_and_offers_it(self):
        environment = {
            **os.environ,
            "CONSOLE_URL": self.server.url,
            "ADMIN_KEY": self.server.create_key("admin"),
        }
        line = ["node", "--test", "--test-reporter=tap", SUITE]
        run = subprocess.run(
            line, capture_output=True, text=True, timeout=SUITE_SECONDS_MAX, env=environment
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr + self.server.tail())
