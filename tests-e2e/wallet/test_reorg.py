"""Tests of reorganisations deeper than the confirmations, which remove credited payments from the chain."""

import time
import unittest

from chains import Evm
from payers import EvmPayer, evm_header
from test_base import cancel
from till import EVENTUALLY_SECONDS_MAX, PAY_TO_EVM, Till, direct
from world import FIVE, on_base, solana


class Reorganised(unittest.TestCase):
    def setUp(self):
        # A separate chain: other tests would lose their last blocks.
        self.chain = Evm()
        self.addCleanup(self.chain.stop)
        self.payer = EvmPayer()
        self.chain.mint(self.payer.address, FIVE)
        self.chain.call("anvil_mine")

    def service(self, recheck_after_s=1):
        return Till(config=direct(self.chain.url, solana().url, recheck_after_s=recheck_after_s))

    def pay(self, till):
        message, signature = self.payer.authorize(PAY_TO_EVM, FIVE)
        status, body = till.pay(evm_header(message, signature))
        self.assertEqual(status, 200, body)
        self.assertEqual(self.chain.tokens(PAY_TO_EVM), FIVE)
        return message

    def undo_the_last_block(self):
        self.chain.call("anvil_reorg", 1, [])
        self.assertEqual(self.chain.tokens(PAY_TO_EVM), 0)

    def missing(self, till):
        return till.metric("settle_missing_claims")

    def test_a_payment_that_is_undone_is_sent_once_more_and_the_books_are_right_again(self):
        with self.service() as till:
            self.pay(till)
            self.undo_the_last_block()
            self.assertTrue(eventually(lambda: self.chain.tokens(PAY_TO_EVM) == FIVE), "it is sent once more")
            self.assertTrue(eventually(lambda: "a missing payment is on its chain again" in till.tail()))
            self.assertTrue(eventually(lambda: self.missing(till) == 0))
            till.verify()

    def test_a_payment_that_is_undone_does_not_hold_up_the_next_one(self):
        next_payer = EvmPayer()
        self.chain.mint(next_payer.address, FIVE)
        self.chain.call("anvil_mine")
        # Longer than this test: a waiting payment itself finds the one that blocks it.
        with self.service(recheck_after_s=3600) as till:
            self.pay(till)
            self.undo_the_last_block()
            status, body = till.pay_until(on_base(next_payer), 200)
            self.assertEqual(status, 200, body)
            self.assertEqual(self.chain.tokens(PAY_TO_EVM), 2 * FIVE)
            till.verify()

    def test_a_payment_that_is_undone_and_taken_back_is_told_by_the_books_and_a_metric(self):
        with self.service() as till:
            message = self.pay(till)
            # While the service is stopped, so that it does not send the payment again in between.
            till.kill()
            self.undo_the_last_block()
            cancel(self.payer, message["nonce"], self.chain)
            till.start_again()
            self.assertTrue(eventually(lambda: self.missing(till) == 1))
            with self.assertRaises(AssertionError) as wrong:
                till.verify()
            self.assertIn("does not show", str(wrong.exception))
            self.assertIn("is missing on its chain", till.tail())


def eventually(is_so):
    deadline = time.monotonic() + EVENTUALLY_SECONDS_MAX
    while not is_so():
        if deadline < time.monotonic():
            return False
        time.sleep(0.2)
    return True


if __name__ == "__main__":
    unittest.main()
