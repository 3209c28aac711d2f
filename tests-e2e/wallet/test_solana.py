"""Tests of payments on Solana, settled directly: the fee payer signs only safe transactions."""

import unittest
from concurrent.futures import ThreadPoolExecutor

from meddler import AFTER, Meddler, lose_the_answer
from payers import solana_header
from solana_node import ASSOCIATED, TOKEN, USDC, token_account
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import Message
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from solders.transaction import VersionedTransaction
from till import FEE_PAYER, PAY_TO_SOLANA, direct, running
from world import FIVE, Received, evm, on_solana, solana, solana_payer

MEMO = Pubkey.from_string("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr")
COMPUTE_BUDGET = Pubkey.from_string("ComputeBudget111111111111111111111111111111")


class Solana(unittest.TestCase):
    def setUp(self):
        self.node = Meddler(solana().url)
        self.addCleanup(self.node.stop)
        self.received = Received()

    def service(self, **changes):
        return running(direct(evm().url, self.node.url, **changes))

    def assert_paid(self, answer):
        status, body = answer
        self.assertEqual(status, 200, body)
        self.assertEqual(float(body["data"]["amountCredited"]), 5)
        return body

    def assert_refused(self, answer, reason=None):
        status, body = answer
        self.assertEqual(status, 400, body)
        if reason is not None:
            self.assertEqual(body["details"]["reason"], reason)

    def test_the_same_transaction_ten_times_at_once_twice_and_after_a_restart_credits_once(self):
        header = on_solana(solana_payer())
        with self.service() as till:
            with ThreadPoolExecutor(10) as posts:
                answers = list(posts.map(till.pay, [header] * 10))
            first = self.assert_paid(answers[0])
            self.assertTrue(all(answer == (200, first) for answer in answers), answers)
            # A Solana node would accept it each time without an error.
            self.assertEqual(self.node.calls.count("sendTransaction"), 1)
            self.assertEqual(till.pay(header), (200, first))
            till.kill()
            till.start_again()
            self.assertEqual(till.pay(header), (200, first))
            self.received.check(self, till)

    def test_whatever_would_use_the_fee_payer_is_refused_and_costs_it_nothing(self):
        payer, fee_payer = solana_payer(), Pubkey.from_string(FEE_PAYER)
        key = payer.key.pubkey()
        steal = transfer(TransferParams(from_pubkey=fee_payer, to_pubkey=key, lamports=1))
        remark = Instruction(MEMO, b"hello", [AccountMeta(fee_payer, True, False)])
        again = Instruction(
            TOKEN,
            bytes([12]) + FIVE.to_bytes(8, "little") + bytes([6]),
            [
                AccountMeta(token_account(key), False, True),
                AccountMeta(USDC, False, False),
                AccountMeta(token_account(Pubkey.from_string(PAY_TO_SOLANA)), False, True),
                AccountMeta(key, True, False),
            ],
        )
        create = Instruction(ASSOCIATED, b"\x01", [AccountMeta(key, True, True)])
        price = Instruction(COMPUTE_BUDGET, bytes([3]) + (6_000_000).to_bytes(8, "little"), [])
        before = solana().call("getBalance", FEE_PAYER)["value"]
        with self.service() as till:
            for name, extra in {
                "pays from the fee payer": steal,
                "names the fee payer in a memo": remark,
                "moves twice": again,
                "makes an account": create,
                "raises the price": price,
            }.items():
                with self.subTest(name):
                    self.assert_refused(till.pay(on_solana(payer, extra=[extra])))
            for name, header in spoilt(payer).items():
                with self.subTest(name):
                    self.assert_refused(till.pay(header))
            self.received.check(self, till)
        self.assertEqual(solana().call("getBalance", FEE_PAYER)["value"], before)

    def test_a_payer_without_money_and_an_old_transaction_are_refused(self):
        payer = solana_payer(FIVE - 1)
        with self.service() as till:
            self.assert_refused(till.pay(on_solana(payer)), "insufficient_funds")
            late = on_solana(solana_payer())
            solana().call("test_expire")
            self.assert_refused(till.pay(late), "invalid_exact_svm_transaction_expired")
            self.received.check(self, till)

    def test_a_fee_payer_without_funds_is_our_fault_and_releases_the_payment(self):
        header = on_solana(solana_payer(), fee_payer=poor_fee_payer())
        with self.service(solana_fee_payer_key="hex:" + "06" * 32) as till:
            status, body = till.pay(header)
            self.assertGreaterEqual(status, 500, body)
            self.assertEqual(body["error"], "SETTLEMENT_FAILED")
            solana().call("test_airdrop", poor_fee_payer(), 1_000_000_000)
            self.assert_paid(till.pay(header))
            self.received.check(self, till)

    def test_a_send_that_is_dropped_is_pending_until_it_cannot_land_and_then_released(self):
        header = on_solana(solana_payer())
        with self.service(settle_wait_s=1) as till:
            solana().call("test_drop", 1000)
            try:
                status, body = till.pay(header)
                self.assertGreaterEqual(status, 500, body)
                self.assertEqual(body["error"], "SETTLEMENT_TIMEOUT")
                self.assertTrue(body["details"]["transaction"])
                solana().call("test_expire")
                self.assert_refused(till.pay_until(header, 400), "invalid_exact_svm_transaction_expired")
            finally:
                solana().call("test_drop", 0)
            self.received.check(self, till)

    def test_a_send_that_is_dropped_once_is_sent_again(self):
        header = on_solana(solana_payer())
        with self.service(settle_wait_s=1) as till:
            solana().call("test_drop", 1)
            self.assert_paid(till.pay_until(header, 200))
            self.received.check(self, till)

    def test_an_answer_that_is_lost_after_sending_is_no_loss(self):
        with self.service() as till:
            self.node.at("sendTransaction", AFTER, lose_the_answer)
            self.assert_paid(till.pay(on_solana(solana_payer())))
            self.received.check(self, till)


def spoilt(payer):
    """Transactions that were changed after signing, or have another form."""
    signed = payer.transaction(solana(), PAY_TO_SOLANA, FEE_PAYER, FIVE)
    filled = VersionedTransaction.populate(signed.message, [signed.signatures[1], signed.signatures[1]])
    stolen = VersionedTransaction.populate(signed.message, [signed.signatures[0], signed.signatures[0]])
    cut = bytes(signed)[:-1]
    legacy = Message.new_with_blockhash([], Pubkey.from_string(FEE_PAYER), Hash.default())
    old = VersionedTransaction.populate(legacy, [signed.signatures[0]])
    return {
        "the fee payer's place is filled": solana_header(bytes(filled)),
        "the payer has not signed": solana_header(bytes(stolen)),
        "cut short": solana_header(cut),
        "the form before versions": solana_header(bytes(old)),
        "nothing": solana_header(b""),
    }


def poor_fee_payer():
    return str(Keypair.from_seed(bytes([6] * 32)).pubkey())


if __name__ == "__main__":
    unittest.main()
