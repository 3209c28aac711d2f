"""Tests that `tollgate doctor` reports problems that would prevent payments."""

import json
import subprocess
import unittest

from solders.keypair import Keypair
from till import FEE_PAYER, Till, direct, through
from world import evm, facilitator, solana

SECONDS_MAX = 60


class Doctor(unittest.TestCase):
    def found(self, config):
        """The results of the checks about payments, by name."""
        # Problems are found even if the service could not start with them.
        with Till(config=direct(evm().url, solana().url)) as till:
            till.configure(config)
            line = [till.binary, "doctor", "--json", *till._place()]
            run = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS_MAX, env=till._environment())
        findings = [it for it in json.loads(run.stdout) if it["check"].startswith("x402")]
        self.assertTrue(findings, run.stdout)
        for key in ("ac0974bec39a17e36ba4a6b4d238ff94", "07" * 16):
            self.assertNotIn(key, run.stdout + run.stderr, "a key is never printed")
        return {it["check"]: (it["verdict"], it["found"]) for it in findings}

    def verdicts(self, config):
        return {check: verdict for check, (verdict, _) in self.found(config).items()}

    def test_all_is_well(self):
        evm().call("anvil_mine")
        self.assertEqual(
            self.verdicts(direct(evm().url, solana().url)),
            {
                "x402.evm_rpc_url": "ok",
                "x402 clock": "ok",
                "x402.asset_evm": "ok",
                "x402.evm_relayer_key": "ok",
                "x402.solana_rpc_url": "ok",
                "x402.pay_to_solana": "ok",
                "x402.solana_fee_payer_key": "ok",
            },
        )

    def test_a_facilitator_is_asked_what_it_settles(self):
        config = through(facilitator().url, facilitator().fee_payer, evm().url, solana().url)
        self.assertEqual(self.verdicts(config)["x402.facilitator_url"], "ok")
        config = through(facilitator().url, FEE_PAYER, evm().url, solana().url)
        verdict, found = self.found(config)["x402.solana_fee_payer"]
        self.assertEqual(verdict, "failed")
        self.assertIn(facilitator().fee_payer, found)

    def test_a_node_of_another_chain_fails(self):
        found = self.found(direct(evm().url, solana().url, chain_id=1, solana_cluster="devnet"))
        self.assertEqual(found["x402.evm_rpc_url"], ("failed", "serves chain 8453"))
        self.assertEqual(found["x402.solana_rpc_url"][0], "failed")

    def test_a_service_does_not_start_with_a_node_of_another_chain(self):
        for changes in ({"chain_id": 1}, {"solana_cluster": "devnet"}):
            with self.assertRaisesRegex(AssertionError, "the node serves .* and not"):
                with Till(config=direct(evm().url, solana().url, **changes)):
                    pass

    def test_a_wrong_name_of_the_token_and_no_token_at_all_fail(self):
        verdicts = self.verdicts(direct(evm().url, solana().url, asset_evm_name="USDC"))
        self.assertEqual(verdicts["x402.asset_evm"], "failed")
        verdicts = self.verdicts(direct(evm().url, solana().url, asset_evm="0x" + "12" * 20))
        self.assertEqual(verdicts["x402.asset_evm"], "failed")

    def test_keys_without_funds_and_a_receiver_without_an_account_fail(self):
        found = self.found(
            direct(
                evm().url,
                solana().url,
                evm_relayer_key="0x" + "03" * 32,
                solana_fee_payer_key="hex:" + "03" * 32,
                pay_to_solana=str(Keypair().pubkey()),
            )
        )
        for check in ("x402.evm_relayer_key", "x402.solana_fee_payer_key", "x402.pay_to_solana"):
            self.assertEqual(found[check][0], "failed", found[check])


if __name__ == "__main__":
    unittest.main()
