"""Tests of payments settled by the reference facilitator, whose results are verified on the chain."""

import unittest

from meddler import AFTER, Meddler, lose_the_answer
from payers import EvmPayer
from till import running, through
from world import FIVE, Received, evm, evm_payer, facilitator, on_base, on_solana, solana, solana_payer


class Facilitated(unittest.TestCase):
    def setUp(self):
        self.service_url = Meddler(facilitator().url)
        self.addCleanup(self.service_url.stop)
        self.received = Received()

    def service(self, **changes):
        addresses = (self.service_url.url, facilitator().fee_payer, evm().url, solana().url)
        return running(through(*addresses, **changes))

    def assert_paid(self, answer):
        status, body = answer
        self.assertEqual(status, 200, body)
        self.assertEqual(float(body["data"]["amountCredited"]), 5)
        return body

    def headers(self):
        yield on_base(evm_payer())
        yield on_solana(solana_payer(), fee_payer=facilitator().fee_payer)

    def test_payments_on_both_chains_are_credited_once(self):
        with self.service() as till:
            for header in self.headers():
                first = self.assert_paid(till.pay(header))
                self.assertEqual(till.pay(header), (200, first))
            self.received.check(self, till)

    def test_a_result_that_is_lost_is_read_from_the_chain(self):
        with self.service() as till:
            for header in self.headers():
                self.service_url.at("/settle", AFTER, lose_the_answer)
                self.assert_paid(till.pay(header))
            self.received.check(self, till)

    def test_a_payer_without_money_is_refused(self):
        with self.service() as till:
            status, body = till.pay(on_base(EvmPayer()))
            self.assertEqual((status, body["details"]["reason"]), (400, "insufficient_funds"))
            self.received.check(self, till)

    def test_a_facilitator_that_is_away_is_our_fault_and_releases_the_payment(self):
        header = on_base(evm_payer())
        with running(through("http://127.0.0.1:9", facilitator().fee_payer, evm().url, solana().url)) as till:
            status, body = till.pay(header)
            self.assertEqual((status, body["error"]), (503, "SETTLEMENT_FAILED"))
        with self.service() as till:
            self.assert_paid(till.pay(header))

    def test_a_facilitator_that_lies_credits_nobody(self):
        header = on_base(evm_payer(FIVE))
        before = self.service_url.pass_on

        def lie(path, body):
            if path != "/settle":
                return before(path, body)
            return 200, b'{"success":true,"transaction":"0x%s","network":"eip155:8453"}' % (b"ab" * 32)

        self.service_url.pass_on = lie
        with self.service(settle_wait_s=2) as till:
            status, body = till.pay(header)
            self.assertGreaterEqual(status, 500, body)
            self.assertEqual(body["error"], "SETTLEMENT_TIMEOUT")
            self.assertEqual(till.received(), {})


if __name__ == "__main__":
    unittest.main()
