"""Tests of payments on Base, settled directly, with attacks and failures."""

import os
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from chains import CONTRACT_WALLET, USDC, word
from meddler import AFTER, BEFORE, Meddler, lose_the_answer
from payers import EvmPayer, evm_header
from till import PAY_TO_EVM, direct, running
from world import ETHER, FIVE, SIX, Received, evm, evm_payer, on_base, solana

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
STRANGER = 5


class Base(unittest.TestCase):
    def setUp(self):
        self.node = Meddler(evm().url)
        self.addCleanup(self.node.stop)
        self.received = Received()

    def service(self, **changes):
        return running(direct(self.node.url, solana().url, **changes))

    def assert_paid(self, answer, units):
        status, body = answer
        self.assertEqual(status, 200, body)
        self.assertAlmostEqual(float(body["data"]["amountCredited"]), units / 1e6)
        return body

    def assert_refused(self, answer, reason=None):
        status, body = answer
        self.assertEqual(status, 400, body)
        if reason is not None:
            self.assertEqual(body["details"]["reason"], reason)

    def assert_pending(self, answer):
        status, body = answer
        self.assertGreaterEqual(status, 500, body)
        self.assertEqual(body["error"], "SETTLEMENT_TIMEOUT")
        self.assertEqual(body["details"]["reason"], "settlement_pending")
        return body["details"]["transaction"]


class Once(Base):
    def test_the_same_payment_twice_ten_times_at_once_and_after_a_restart_credits_once(self):
        payer, header = evm_payer(), None
        with self.service() as till:
            header = on_base(payer)
            with ThreadPoolExecutor(10) as posts:
                answers = list(posts.map(till.pay, [header] * 10))
            first = self.assert_paid(answers[0], FIVE)
            self.assertTrue(all(answer == (200, first) for answer in answers), answers)
            self.assertEqual(till.pay(header), (200, first))
            till.kill()
            till.start_again()
            self.assertEqual(till.pay(header), (200, first))
            self.received.check(self, till)

    def test_payments_at_once_take_their_turns(self):
        payer = evm_payer()
        with self.service() as till:
            headers = [on_base(payer, FIVE + number) for number in range(8)]
            with ThreadPoolExecutor(8) as posts:
                answers = list(posts.map(till.pay, headers))
            for number, answer in enumerate(answers):
                self.assert_paid(answer, FIVE + number)
            self.received.check(self, till)


class Attacks(Base):
    def test_what_was_not_signed_so_is_refused(self):
        payer, other = evm_payer(), EvmPayer()
        message, signature = payer.authorize(PAY_TO_EVM, FIVE)
        r, s, v = signature[2:66], int(signature[66:130], 16), int(signature[130:], 16)
        mirrored = f"0x{r}{ORDER - s:064x}{55 - v:02x}"
        wrong = {
            "from swapped": ({**message, "from": other.address}, signature),
            "value raised": ({**message, "value": SIX}, signature),
            "not our address": payer.authorize(other.address, FIVE),
            "expired": payer.authorize(PAY_TO_EVM, FIVE, validBefore=int(time.time()) - 1),
            "about to expire": payer.authorize(PAY_TO_EVM, FIVE, validBefore=int(time.time()) + 3),
            "not yet valid": payer.authorize(PAY_TO_EVM, FIVE, validAfter=int(time.time()) + 60),
            "high s": (message, mirrored),
            "v of 0 or 1": (message, f"0x{r}{s:064x}{v - 27:02x}"),
            "compact": (message, f"0x{r}{s | (v - 27) << 255:064x}"),
            "empty": (message, "0x"),
            "for another chain": payer.authorize(PAY_TO_EVM, FIVE, {"chainId": 84532}),
            "for another token's name": payer.authorize(PAY_TO_EVM, FIVE, {"name": "USDC"}),
            "for another version": payer.authorize(PAY_TO_EVM, FIVE, {"version": "1"}),
            "for another contract": payer.authorize(PAY_TO_EVM, FIVE, {"verifyingContract": CONTRACT_WALLET}),
            "too little": payer.authorize(PAY_TO_EVM, FIVE - 1),
            "too much": payer.authorize(PAY_TO_EVM, 10_000_000_001),
        }
        with self.service() as till:
            for name, (message, signature) in wrong.items():
                with self.subTest(name):
                    self.assert_refused(till.pay(evm_header(message, signature)))
            for name, junk in {"no base64": "%%%", "no JSON": "AAAA", "empty object": "e30="}.items():
                with self.subTest(name):
                    self.assert_refused(till.pay(junk), "invalid_payload")
            self.received.check(self, till)

    def test_a_payment_that_somebody_else_sent_first_is_found_and_credited(self):
        payer = evm_payer()
        message, signature = payer.authorize(PAY_TO_EVM, FIVE)
        with self.service() as till:
            theirs = front_run(message, signature)
            self.assert_paid(till.pay(evm_header(message, signature)), FIVE)
            self.assertEqual(till.settled_by, theirs)
            self.received.check(self, till)

    def test_a_payment_that_somebody_else_sends_just_before_us_is_credited_once(self):
        payer = evm_payer()
        message, signature = payer.authorize(PAY_TO_EVM, FIVE)
        with self.service() as till:
            self.node.at("eth_sendRawTransaction", BEFORE, lambda: front_run(message, signature))
            self.assert_paid(till.pay(evm_header(message, signature)), FIVE)
            self.received.check(self, till)

    def test_a_payment_that_its_payer_takes_back_is_refused(self):
        payer = evm_payer()
        message, signature = payer.authorize(PAY_TO_EVM, FIVE)
        with self.service() as till:
            cancel(payer, message["nonce"], evm())
            answer = till.pay(evm_header(message, signature))
            self.assert_refused(answer, "invalid_exact_evm_nonce_already_used")
            self.received.check(self, till)

    def test_money_that_is_moved_away_just_before_is_not_credited(self):
        payer = evm_payer(FIVE)
        evm().call("anvil_setBalance", payer.address, hex(ETHER))
        with self.service() as till:
            self.node.at("eth_sendRawTransaction", BEFORE, lambda: move_away(payer))
            self.assert_refused(till.pay(on_base(payer)), "invalid_exact_evm_transaction_failed")
            self.received.check(self, till)


class BadDays(Base):
    def test_a_payer_without_money_and_a_blocked_one_are_refused_and_may_try_again(self):
        poor, blocked = EvmPayer(), evm_payer()
        evm().block(blocked.address, True)
        with self.service() as till:
            first, second = on_base(poor), on_base(blocked)
            self.assert_refused(till.pay(first), "insufficient_funds")
            self.assert_refused(till.pay(second), "invalid_exact_evm_transaction_simulation_failed")
            evm().mint(poor.address, FIVE)
            evm().block(blocked.address, False)
            self.assert_paid(till.pay(first), FIVE)
            self.assert_paid(till.pay(second), FIVE)
            self.received.check(self, till)

    def test_an_asset_that_is_no_contract_is_refused(self):
        payer = evm_payer()
        with self.service(asset_evm="0x" + "12" * 20) as till:
            header = evm_header(*payer.authorize(PAY_TO_EVM, FIVE, {"verifyingContract": "0x" + "12" * 20}))
            self.assert_refused(till.pay(header), "asset_not_deployed_contract")

    def test_a_relayer_without_gas_is_our_fault_and_releases_the_payment(self):
        payer, relayer = evm_payer(), evm().accounts[0]
        header = on_base(payer)
        with self.service() as till:
            evm().call("anvil_setBalance", relayer, "0x0")
            try:
                status, body = till.pay(header)
            finally:
                evm().call("anvil_setBalance", relayer, hex(1000 * ETHER))
            self.assertGreaterEqual(status, 500, body)
            self.assertEqual(body["error"], "SETTLEMENT_FAILED")
            self.assert_paid(till.pay(header), FIVE)
            self.received.check(self, till)

    def test_a_chain_that_is_slow_is_pending_with_the_hash_and_credits_later(self):
        payer = evm_payer()
        header = on_base(payer)
        with self.service(settle_wait_s=2) as till:
            evm().call("evm_setAutomine", False)
            try:
                transaction = self.assert_pending(till.pay(header))
                self.assertEqual(self.assert_pending(till.pay(header)), transaction)
            finally:
                evm().call("evm_setAutomine", True)
                evm().call("anvil_mine")
            self.assert_paid(till.pay_until(header, 200), FIVE)
            self.received.check(self, till)

    def test_an_answer_that_is_lost_after_sending_is_not_sent_as_another_payment(self):
        payer = evm_payer()
        with self.service() as till:
            self.node.at("eth_sendRawTransaction", AFTER, lose_the_answer)
            self.assert_paid(till.pay(on_base(payer)), FIVE)
            self.received.check(self, till)

    def test_a_transaction_that_the_node_forgets_is_sent_again(self):
        payer = evm_payer()
        header = on_base(payer)
        with self.service(settle_wait_s=2) as till:
            evm().call("evm_setAutomine", False)
            try:
                transaction = self.assert_pending(till.pay(header))
                evm().call("anvil_dropTransaction", transaction)
            finally:
                evm().call("evm_setAutomine", True)
            self.assert_paid(till.pay_until(header, 200), FIVE)
            self.received.check(self, till)

    def test_a_payment_counts_after_as_many_blocks_as_the_operator_wants(self):
        payer = evm_payer()
        header = on_base(payer)
        with self.service(settle_wait_s=2, evm_confirmations=4) as till:
            self.assert_pending(till.pay(header))
            self.assertEqual(till.received(), {})
            evm().call("anvil_mine", "0x3")
            self.assert_paid(till.pay_until(header, 200), FIVE)
            self.received.check(self, till)

    def test_one_address_may_ask_as_often_a_minute_as_the_operator_says(self):
        with self.service(top_ups_per_minute=2) as till:
            statuses = [till.ask("203.0.113.7") for _ in range(3)]
            self.assertEqual(statuses, [402, 402, 429])
            self.assertEqual(till.ask("203.0.113.8"), 402)

    def test_a_contract_wallet_pays_with_its_owners_signature_and_no_other(self):
        owner = EvmPayer(contract=CONTRACT_WALLET)
        evm().own_contract_wallet(owner.key.address)
        evm().mint(CONTRACT_WALLET, 2 * FIVE)
        with self.service() as till:
            self.assert_refused(till.pay(on_base(EvmPayer(contract=CONTRACT_WALLET))))
            self.assert_paid(till.pay(on_base(owner)), FIVE)
            self.received.check(self, till)


def front_run(message, signature):
    """Sends the authorization from an unrelated account."""
    r, s, v = signature[2:66], signature[66:130], int(signature[130:], 16)
    arguments = [message["from"], message["to"], message["value"], 0, message["validBefore"], message["nonce"], v]
    data = "0xe3ee160e" + "".join(word(it) for it in arguments) + r + s
    call = {"from": evm().accounts[STRANGER], "to": USDC, "data": data}
    return evm().call("eth_sendTransaction", call)


def cancel(payer, nonce, chain):
    domain = {"name": "USD Coin", "version": "2", "chainId": 8453, "verifyingContract": USDC}
    fields = [{"name": "authorizer", "type": "address"}, {"name": "nonce", "type": "bytes32"}]
    message = {"authorizer": payer.address, "nonce": nonce}
    signed = payer.key.sign_typed_data(domain, {"CancelAuthorization": fields}, message)
    signature = signed.signature.hex().ljust(192, "0")
    data = "0xb7b72899" + word(payer.address) + word(nonce) + word(96) + word(65) + signature
    chain.call("eth_sendTransaction", {"from": chain.accounts[STRANGER], "to": USDC, "data": data})


def move_away(payer):
    """The payer transfers the money elsewhere, with its own gas."""
    evm().call("anvil_impersonateAccount", payer.address)
    data = "0xa9059cbb" + word("0x" + os.urandom(20).hex()) + word(FIVE)
    evm().call("eth_sendTransaction", {"from": payer.address, "to": USDC, "data": data})


if __name__ == "__main__":
    unittest.main()
