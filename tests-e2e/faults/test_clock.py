"""Tests with clocks that jump in both directions, and with a process suspended across midnight."""

import json
import signal
import time
import unittest
import urllib.error
import urllib.request

from node import Nodes, networks

from faults.layer import Faulty

YEAR = 365 * 86_400
DAY = 86_400
WAIT_SECONDS_MAX = 30
# Enough for a start and a call on a busy machine.
BEFORE_MIDNIGHT_SECONDS = 8


class Clocks(unittest.TestCase):
    def setUp(self):
        self.node = self.enterContext(Nodes())
        self.server = self.enterContext(Faulty(config=networks(self.node, "base-mainnet")))
        self.server.create_account("one")
        self.server.command("accounts", "credit", "one", "5")
        self.server.command("accounts", "credit", "one", "1", "--currency", "diem")
        self.key = self.server.create_key("admin", account="one")

    def test_a_clock_that_jumps_stops_charging_until_it_is_right_again(self):
        for jump in [YEAR, -YEAR]:
            with self.subTest(jump=jump):
                self.assertEqual(self.call(), 200)
                self.server.set_clock(jump)
                self.assertEqual(self.call(), 503)
                self.assertIn("the clock has jumped", self.server.tail())
                self.wait_for_metric("ledger_clock_trusted", 0)
                self.server.set_clock(0)
                self.assertEqual(self.call(), 200)
                self.wait_for_metric("ledger_clock_trusted", 1)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))

    def test_a_process_that_sleeps_across_midnight_goes_on_in_the_new_day(self):
        self.server.stop()
        self.server.kill()
        offset = int(DAY - time.time() % DAY - BEFORE_MIDNIGHT_SECONDS)
        self.server.set_clock(offset)
        self.server.start_again()
        self.assertEqual(self.call(), 200)
        left = DAY - (time.time() + offset) % DAY
        self.assertLess(left, BEFORE_MIDNIGHT_SECONDS + 1, "the call should be of the old day")
        self.server.process.send_signal(signal.SIGSTOP)
        time.sleep(left + 1)
        self.server.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.call(), 200)
        told = json.loads(self.server.command("accounts", "show", "one", "--json"))
        self.assertEqual(told["balances"]["DIEM"], "0.9999875", "one call of the new day")
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))

    def wait_for_metric(self, name, value):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while self.server.metric(name) != value:
            self.assertLess(time.monotonic(), deadline, f"{name} should be {value}")
            time.sleep(0.1)

    def call(self):
        body = b'{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        request = urllib.request.Request(f"{self.server.api}/crypto/rpc/base-mainnet", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code


if __name__ == "__main__":
    unittest.main()
