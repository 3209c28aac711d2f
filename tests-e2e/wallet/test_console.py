"""A wallet in a browser: signs in to the console and tops up, on a local chain."""

import os
import pathlib
import subprocess
import unittest

from till import direct, running
from world import Received, evm, evm_payer, solana

HERE = pathlib.Path(__file__).parent
SUITE_SECONDS_MAX = 120


class Console(unittest.TestCase):
    def test_a_wallet_in_the_browser_signs_in_and_tops_up(self):
        received, payer = Received(), evm_payer()
        with running(direct(evm().url, solana().url)) as till:
            environment = {
                **os.environ,
                "CONSOLE_URL": till.url,
                "WALLET_KEY": "0x" + payer.key.key.hex().removeprefix("0x"),
            }
            line = ["node", "--test", "--test-reporter=tap", HERE / "console_top_up.mjs"]
            run = subprocess.run(
                line, capture_output=True, text=True, timeout=SUITE_SECONDS_MAX, env=environment
            )
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            received.check(self, till)


if __name__ == "__main__":
    unittest.main()
