"""Tests with kills between any two steps of a settlement, and restarts."""

import threading
import unittest

from meddler import AFTER, BEFORE, Meddler
from till import direct, running, through
from world import Received, evm, evm_payer, facilitator, on_base, on_solana, solana, solana_payer

# More than the calls of a settlement.
CALLS_MAX = 40


class Killed(unittest.TestCase):
    def kill_at_every_call(self, meddled, config, make_header):
        """Kills the service before and after each call of a settlement, which must be credited exactly once."""
        moments = 0
        with running(config) as till:
            received = Received()
            for number in range(1, CALLS_MAX):
                for moment in (BEFORE, AFTER):
                    died, header = threading.Event(), make_header()

                    def die(died=died):
                        till.process.kill()
                        died.set()

                    meddled.at(number, moment, die)
                    try:
                        till.pay(header)
                    except OSError:
                        pass
                    if not died.is_set():
                        meddled.at(0, BEFORE, die)
                        self.assertGreaterEqual(moments, 4, "the service was killed at some calls")
                        received.check(self, till)
                        return
                    moments += 1
                    till.kill()
                    till.start_again()
                    with self.subTest(call=number, moment=moment):
                        status, body = till.pay_until(header, 200)
                        self.assertEqual(status, 200, body)
                        received.check(self, till)
        self.fail(f"a settlement has more than {CALLS_MAX} calls")

    def meddle(self, url):
        meddler = Meddler(url)
        self.addCleanup(meddler.stop)
        return meddler

    def test_while_it_settles_on_base(self):
        node = self.meddle(evm().url)
        self.kill_at_every_call(node, direct(node.url, solana().url), lambda: on_base(evm_payer()))

    def test_while_it_settles_on_solana(self):
        node = self.meddle(solana().url)
        self.kill_at_every_call(node, direct(evm().url, node.url), lambda: on_solana(solana_payer()))

    def test_while_a_facilitator_settles(self):
        service, payer = self.meddle(facilitator().url), facilitator().fee_payer
        config = through(service.url, payer, evm().url, solana().url)
        self.kill_at_every_call(service, config, lambda: on_solana(solana_payer(), fee_payer=payer))

    def test_while_what_a_facilitator_did_is_read_from_the_chain(self):
        node, payer = self.meddle(evm().url), facilitator().fee_payer
        config = through(facilitator().url, payer, node.url, solana().url)
        self.kill_at_every_call(node, config, lambda: on_base(evm_payer()))


if __name__ == "__main__":
    unittest.main()
