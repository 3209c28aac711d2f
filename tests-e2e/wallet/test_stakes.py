"""Tests that staked DIEM in the contract gives a daily allowance."""

import json
import time
import unittest
import urllib.request

from chains import USDC
from payers import EvmPayer
from till import ANSWER_SECONDS_MAX, EVENTUALLY_SECONDS_MAX, direct, running
from world import ETHER, evm, solana


class Stakes(unittest.TestCase):
    def allocation(self, till, key, wanted):
        """The daily allowance of an account, once it has the expected value or after a timeout."""
        deadline = time.monotonic() + EVENTUALLY_SECONDS_MAX
        while True:
            headers = {"authorization": f"Bearer {key}"}
            request = urllib.request.Request(f"{till.api}/billing/balance", headers=headers)
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS_MAX) as response:
                found = json.load(response)["diemEpochAllocation"]
            if found == wanted or deadline < time.monotonic():
                return found
            time.sleep(0.2)

    def test_a_stake_is_the_allowance_of_the_account_that_its_wallet_is_linked_to(self):
        # Any contract with `balanceOf` works; this one can mint.
        staker = EvmPayer()
        evm().mint(staker.address, 25 * ETHER // 2)
        diem = f'[diem]\ncontract = "{USDC}"\nrpc_url = "{evm().url}"\n'
        with running(direct(evm().url, solana().url) + diem) as till:
            key = till.create_key("admin")
            till.command("accounts", "link", "default", staker.address)
            till.stop()
            till.start_again()
            self.assertEqual(self.allocation(till, key, 12.5), 12.5)


if __name__ == "__main__":
    unittest.main()
