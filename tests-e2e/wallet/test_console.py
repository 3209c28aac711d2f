"""Tests of browser wallets: sign-in to the console and top-up, on local chains."""

import os
import pathlib
import subprocess
import unittest

from till import direct, running
from world import Received, evm, evm_payer, solana, solana_payer

HERE = pathlib.Path(__file__).parent
SUITE_SECONDS_MAX = 120


class Console(unittest.TestCase):
    def test_wallets_in_the_browser_sign_in_and_top_up_on_both_chains(self):
        received, payer, on_solana = Received(), evm_payer(), solana_payer()
        with running(direct(evm().url, solana().url)) as till:
            environment = {
                **os.environ,
                "CONSOLE_URL": till.url,
                "WALLET_KEY": "0x" + payer.key.key.hex().removeprefix("0x"),
                "SOLANA_KEY": bytes(on_solana.key).hex(),
            }
            line = ["node", "--test", "--test-reporter=tap", HERE / "console_top_up.mjs"]
            run = subprocess.run(line, capture_output=True, text=True, timeout=SUITE_SECONDS_MAX, env=environment)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            received.check(self, till)


if __name__ == "__main__":
    unittest.main()
