"""Tests of relayer transactions that are not mined in time: they are replaced with higher fees and credited once."""

import threading
import time
import unittest

from chains import USDC, Evm
from meddler import AFTER, BEFORE, Meddler, lose_the_answer
from payers import EvmPayer
from till import EVENTUALLY_SECONDS_MAX, PAY_TO_EVM, direct, running
from world import FIVE, on_base, solana

GWEI = 10**9


class Stuck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A separate chain, on which blocks are mined only by the test.
        cls.chain = Evm()
        cls.addClassCleanup(cls.chain.stop)
        cls.chain.call("evm_setAutomine", False)

    def setUp(self):
        self.node = Meddler(self.chain.url)
        self.addCleanup(self.node.stop)
        self.before = self.chain.tokens(PAY_TO_EVM)

    def service(self, **changes):
        return running(direct(self.node.url, solana().url, **{"settle_wait_s": 1, "replace_after_s": 1, **changes}))

    def funded(self):
        payer = EvmPayer()
        self.chain.mint(payer.address, FIVE)
        # Empty blocks lower the base fee; the first offer is ten times this.
        self.chain.call("anvil_setNextBlockBaseFeePerGas", hex(GWEI))
        self.chain.call("anvil_mine")
        return payer

    def pending(self, till, header):
        """The pending transaction of a payment."""
        status, body = till.pay(header)
        self.assertEqual((status, body["error"]), (504, "SETTLEMENT_TIMEOUT"), body)
        return body["details"]["transaction"]

    def replaced(self, till, header, before):
        """The transaction that replaces the previous one."""
        return eventually(lambda: self.pending(till, header), lambda now: now != before)

    def assert_paid_by(self, till, header, transaction):
        status, body = till.pay_until(header, 200)
        self.assertEqual(status, 200, body)
        self.assertEqual(body["data"]["amountCredited"], 5)
        self.assertEqual(till.settled_by, transaction)
        self.check_received(till)

    def check_received(self, till):
        moved = self.chain.tokens(PAY_TO_EVM) - self.before
        self.assertEqual(till.received(), {"eip155:8453": moved}, "the books and the chain")
        self.assertEqual(moved, FIVE)

    def test_a_transaction_with_the_same_number_and_an_eighth_more_takes_its_place(self):
        header = on_base(self.funded())
        with self.service() as till:
            first = self.pending(till, header)
            second = self.replaced(till, header, first)
            third = self.replaced(till, header, second)
            for name in (first, second):
                self.assertIsNone(self.chain.call("eth_getTransactionByHash", name), "it was replaced")
            self.chain.call("anvil_mine")
            self.assert_paid_by(till, header, third)

    def test_what_is_offered_rises_by_an_eighth_and_stays_within_the_maximum(self):
        header = on_base(self.funded())
        # The first offer is ten times the base fee, plus the tip.
        with self.service(gas_price_max_gwei=50) as till:
            offers, name = [], None
            for _ in range(3):
                name = self.replaced(till, header, name)
                offers.append(self.chain.call("eth_getTransactionByHash", name))
            for before, after in zip(offers, offers[1:], strict=False):
                self.assertEqual(after["nonce"], before["nonce"])
                self.assertEqual(after["input"], before["input"])
                for fee in ("maxFeePerGas", "maxPriorityFeePerGas"):
                    self.assertLessEqual(int(before[fee], 16) * 9, int(after[fee], 16) * 8, fee)
                self.assertLessEqual(int(after["maxFeePerGas"], 16), 50 * GWEI)
            self.chain.call("anvil_mine")
            self.assert_paid_by(till, header, name)

    def test_no_more_is_offered_than_the_maximum_allows(self):
        header = on_base(self.funded())
        with self.service(gas_price_max_gwei=3) as till:
            first = self.pending(till, header)
            self.assertEqual(int(self.chain.call("eth_getTransactionByHash", first)["maxFeePerGas"], 16), 3 * GWEI)
            deadline = time.monotonic() + 8
            while time.monotonic() < deadline:
                self.assertEqual(self.pending(till, header), first)
            self.chain.call("anvil_mine")
            self.assert_paid_by(till, header, first)

    def test_what_should_have_been_replaced_is_mined_all_the_same(self):
        header = on_base(self.funded())
        with self.service() as till:
            mined = threading.Event()

            def mine_the_first():
                # The second transaction is on disk but never reaches the node.
                self.chain.call("anvil_mine")
                mined.set()
                lose_the_answer()

            self.node.at("eth_sendRawTransaction", BEFORE, mine_the_first, skip=1)
            first = self.pending(till, header)
            self.assertTrue(mined.wait(EVENTUALLY_SECONDS_MAX))
            self.assert_paid_by(till, header, first)

    def test_killed_before_or_after_a_replacement_is_sent_it_counts_once(self):
        for moment in (BEFORE, AFTER):
            with self.subTest(moment):
                self.before, header = self.chain.tokens(PAY_TO_EVM), on_base(self.funded())
                with self.service() as till:
                    died = threading.Event()

                    def die(till=till, died=died):
                        till.process.kill()
                        died.set()

                    self.node.at("eth_sendRawTransaction", moment, die, skip=1)
                    first = self.pending(till, header)
                    self.assertTrue(died.wait(EVENTUALLY_SECONDS_MAX))
                    till.kill()
                    till.start_again()
                    second = self.pending(till, header)
                    self.assertNotEqual(second, first, "what was about to be sent is on disk")
                    self.chain.call("anvil_mine")
                    status, body = till.pay_until(header, 200)
                    self.assertEqual(status, 200, body)
                    self.check_received(till)


class HeldUp(unittest.TestCase):
    def test_a_transaction_that_is_of_no_use_any_more_does_not_hold_up_the_next_payment(self):
        # A separate chain, because its clock is advanced.
        chain = Evm()
        self.addCleanup(chain.stop)
        late, next_payer = EvmPayer(), EvmPayer()
        for payer in (late, next_payer):
            chain.mint(payer.address, FIVE)
        settings = {"settle_wait_s": 1, "replace_after_s": 10, "gas_price_max_gwei": 400}
        with running(direct(chain.url, solana().url, **settings)) as till:
            header = on_base(late, validBefore=int(time.time()) + 9)
            chain.call("evm_setAutomine", False)
            status, body = till.pay(header)
            self.assertEqual((status, body["error"]), (504, "SETTLEMENT_TIMEOUT"), body)
            for _ in range(2):
                # More than is offered for the first payment.
                chain.call("anvil_setNextBlockBaseFeePerGas", hex(20 * GWEI))
                chain.call("evm_increaseTime", 50)
                chain.call("anvil_mine")
            status, body = till.pay_until(header, 400)
            expired = "invalid_exact_evm_payload_authorization_valid_before"
            self.assertEqual((status, body["details"]["reason"]), (400, expired))
            after = on_base(next_payer)
            status, body = till.pay(after)
            self.assertEqual((status, body["error"]), (504, "SETTLEMENT_TIMEOUT"), body)
            relayer = chain.accounts[0].lower()

            # Anvil drops transactions that a block leaves out, so the first payment's nonce is unused,
            # and no transaction with a later nonce can be mined.
            self.assertEqual(list(waiting(chain, "pending")), [])
            self.assertEqual([it["to"] for it in waiting(chain, "queued")], [USDC.lower()])
            filled = eventually(lambda: list(waiting(chain, "pending")), bool)
            self.assertEqual([it["to"] for it in filled], [relayer, USDC.lower()])
            self.assertEqual((filled[0]["input"], filled[0]["value"]), ("0x", "0x0"))
            chain.call("anvil_mine")
            status, body = till.pay_until(after, 200)
            self.assertEqual(status, 200, body)
            self.assertEqual(chain.tokens(late.address), FIVE, "nothing moved for the first")


def waiting(chain, where):
    """The transactions in the node's pool, in the order of their nonces."""
    for transactions in chain.call("txpool_content")[where].values():
        yield from (transactions[number] for number in sorted(transactions, key=int))


def eventually(ask, is_enough):
    deadline = time.monotonic() + EVENTUALLY_SECONDS_MAX
    while True:
        answer = ask()
        if is_enough(answer) or deadline < time.monotonic():
            return answer
        time.sleep(0.1)


if __name__ == "__main__":
    unittest.main()
