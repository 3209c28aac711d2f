"""The console in Debian's Chromium, against the service with a scripted upstream."""

import os
import pathlib
import re
import subprocess
import unittest

from chat.service import ServiceCase

HERE = pathlib.Path(__file__).parent
SUITE_SECONDS_MAX = 420


class Console(ServiceCase):
    def test_the_console_in_a_browser(self):
        said = "".join(self.server.output)
        link = re.search(r"console, this link signs in once: (\S+)", said).group(1)
        environment = {
            **os.environ,
            "CONSOLE_URL": self.server.url,
            "CONSOLE_LINK": link,
            "ADMIN_KEY": self.admin,
            "INFERENCE_KEY": self.key,
        }
        line = ["node", "--test", "--test-reporter=tap", HERE / "console.test.mjs"]
        run = subprocess.run(
            line, capture_output=True, text=True, timeout=SUITE_SECONDS_MAX, env=environment
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr + self.server.tail())


if __name__ == "__main__":
    unittest.main()
