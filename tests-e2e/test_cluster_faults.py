"""Tests of nodes on a Postgres behind a bad network: requests fail fast, accounts move, and nothing is lost."""

import json
import signal
import threading
import time
import unittest
import urllib.error
import urllib.request
from unittest import mock

import test_cluster
import test_crashes
from fault_proxy import Fault, FaultProxy
from faults.layer import Faulty
from postgres import Postgres

# Requests are refused within the first limit while Postgres is unavailable; accounts of a hung node move to
# another home within the second: a lease of 15 seconds.
REFUSED_SECONDS_MAX = 3
MOVED_SECONDS_MAX = 15
# Extra time for a busy machine.
SLACK_SECONDS = 2
BACK_SECONDS_MAX = 30
# Maximum time that a revoked key still works on a node that is not notified.
REVOKED_SECONDS_MAX = 10
# Longer than a response of the database counts as fresh.
STALE_SECONDS = 0.3
DAY = 86_400


def setUpModule():
    global POSTGRES
    POSTGRES = unittest.enterModuleContext(Postgres())


class SkewedNode(Faulty):
    """A node whose clock is wrong from the start."""

    offset = 0

    def _start(self):
        self.set_clock(self.offset)
        super()._start()


class Nodes(test_crashes.Books, unittest.TestCase):
    """Two nodes: the first is the home of every account and reaches Postgres through a fault proxy."""

    def setUp(self):
        self.url = POSTGRES.database()
        self.proxy = self.enterContext(FaultProxy(POSTGRES))
        self.open(test_cluster.node(self.proxy.url(self.url), 1))
        config = self.server.config.split("\n[store]")[0]
        self.second = self.enterContext(test_cluster.node(self.url, 2)(config=config))

    def chat(self, server, key, headers=()):
        """The status and duration of a chat."""
        begun = time.monotonic()
        answer, text = test_crashes.send(server.api, key, "POST", "/chat/completions", test_cluster.CHAT, headers)
        return answer.status, time.monotonic() - begun, text

    def wait_for(self, is_so, seconds, words):
        begun = time.monotonic()
        while not is_so():
            self.assertLess(time.monotonic() - begun, seconds, words() if callable(words) else words)
            time.sleep(0.05)
        return time.monotonic() - begun

    def ready(self, server):
        """The status of `/readyz`, and its checks."""
        try:
            with urllib.request.urlopen(f"{server._admin()}/readyz", timeout=30) as answer:
                return answer.status, json.load(answer)["checks"]
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)["checks"]


class Away(Nodes):
    def test_requests_are_refused_within_three_seconds_and_before_any_work_whatever_the_network_does(self):
        unknown = self.second.create_key("inference", account="caller-0")
        faults = {
            "swallow": lambda: self.proxy.set_fault(Fault.SWALLOW),
            "freeze": lambda: self.proxy.set_fault(Fault.FREEZE),
            "cut": lambda: (self.proxy.refuse(True), self.proxy.cut()),
            "delay of 5 s": lambda: self.proxy.delay(5),
        }
        for name, begin in faults.items():
            for key in self.keys[:4]:
                self.wait_for(lambda key=key: self.chat(self.server, key)[0] == 200, BACK_SECONDS_MAX, self.server.tail)
            begin()
            time.sleep(STALE_SECONDS)
            asked, answers = self.engine.asked, []
            callers = [
                threading.Thread(target=lambda key=key, answers=answers: answers.append(self.chat(self.server, key)))
                for key in [unknown, *self.keys[:4]] * 3
            ]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()
            longest = max(seconds for _, seconds, _ in answers)
            print(f"{name}: {len(answers)} requests refused, the last after {longest:.2f} s")
            self.assertEqual({status for status, _, _ in answers}, {503}, name)
            self.assertLess(longest, REFUSED_SECONDS_MAX, name)
            self.assertEqual(self.engine.asked, asked, f"{name}: it worked for what it could not charge")
            self.proxy.heal()
            back = self.wait_for(
                lambda: self.chat(self.server, self.keys[0])[0] == 200, BACK_SECONDS_MAX, self.server.tail
            )
            print(f"{name}: charging again {back:.2f} s after its end")
            # Used again after each fault.
            unknown = self.second.create_key("inference", account="caller-0")
        self.check_books()

    def test_work_that_was_done_and_could_not_be_charged_is_told_with_its_amount(self):
        key = self.keys[0]
        self.assertEqual(self.chat(self.server, key)[0], 200)
        self.assertEqual(self.server.metric("ledger_uncharged_usd_total"), 0)
        answers, gate, answer_now = [], threading.Event(), test_crashes.Upstream.do_POST

        def answer_when_let(handler):
            gate.wait(60)
            answer_now(handler)

        self.enterContext(mock.patch.object(test_crashes.Upstream, "do_POST", answer_when_let))
        caller = threading.Thread(target=lambda: answers.append(self.chat(self.server, key)))
        caller.start()
        asked = self.engine.asked
        time.sleep(0.5)
        self.proxy.set_fault(Fault.SWALLOW)
        time.sleep(STALE_SECONDS)
        gate.set()
        caller.join()
        self.assertEqual(self.engine.asked, asked + 1, "the work was done")
        status, seconds, _ = answers[0]
        print(f"work that could not be charged: {status} after {seconds:.2f} s")
        self.assertEqual(status, 503)
        self.assertLess(seconds, 20)
        self.assertAlmostEqual(self.server.metric("ledger_uncharged_usd_total"), 0.000065, delta=0.00003)
        self.assertRegex(
            self.server.tail(), r"work of 0\.0000\d+ USD was done for the request [0-9a-f]{32} and not charged"
        )
        self.proxy.heal()
        self.wait_for(lambda: self.chat(self.server, key)[0] == 200, BACK_SECONDS_MAX, self.server.tail)
        self.check_books()


class Failover(Nodes):
    """Tests of the time until an account has a new home, for each kind of node failure."""

    def moved_after(self, seconds_max):
        """The time until the second node serves an account whose home is the first."""
        key, begun = self.keys[0], time.monotonic()
        seen = []
        while True:
            status, seconds, _ = self.chat(self.second, key)
            seen.append((status, round(seconds, 2)))
            if status == 200:
                return time.monotonic() - begun
            self.assertIn(status, (502, 503), seen)
            self.assertLess(seconds, 20, seen)
            self.assertLess(time.monotonic() - begun, seconds_max, f"{seen} {self.second.tail()}")
            time.sleep(0.05)

    def check(self, name, lose):
        self.assertEqual(self.chat(self.server, self.keys[0])[0], 200)
        lose()
        took = self.moved_after(MOVED_SECONDS_MAX + SLACK_SECONDS)
        print(f"{name}: at home elsewhere after {took:.2f} s")

    def test_a_node_that_is_stopped_by_a_signal_loses_its_accounts_and_comes_back(self):
        process = self.server.process
        self.addCleanup(lambda: process.poll() is None and process.send_signal(signal.SIGCONT))
        self.check("SIGSTOP", lambda: process.send_signal(signal.SIGSTOP))
        process.send_signal(signal.SIGCONT)
        back = self.wait_for(lambda: self.chat(self.server, self.keys[0])[0] == 200, BACK_SECONDS_MAX, self.server.tail)
        print(f"SIGSTOP: the node answers again {back:.2f} s after it was woken")
        self.check_books()

    def test_a_node_whose_network_swallows_everything_loses_its_accounts(self):
        self.check("a black hole before Postgres", lambda: self.proxy.set_fault(Fault.SWALLOW))
        self.proxy.heal()
        self.wait_for(lambda: self.chat(self.server, self.keys[0])[0] == 200, BACK_SECONDS_MAX, self.server.tail)
        self.check_books()

    def test_a_node_that_freezes_while_it_takes_a_lease_holds_up_nobody(self):
        # New accounts have no home yet: their first requests take the leases.
        for name in ("fresh-1", "fresh-2"):
            self.second.create_account(name)
        fresh = [self.second.create_key("inference", account=name) for name in ("fresh-1", "fresh-2")]
        self.proxy.freeze_before("own", b"COMMIT")
        self.chat(self.server, fresh[0])
        self.assertFalse(self.proxy.frozen_words, "its session should be frozen in its transaction")
        process = self.server.process
        self.addCleanup(lambda: process.poll() is None and process.send_signal(signal.SIGCONT))
        process.send_signal(signal.SIGSTOP)
        for key in fresh:
            took = self.wait_for(
                lambda key=key: self.chat(self.second, key)[0] == 402,
                MOVED_SECONDS_MAX + SLACK_SECONDS,
                self.second.tail,
            )
            print(f"frozen in a lease: an account answers elsewhere after {took:.2f} s")
        took = self.moved_after(MOVED_SECONDS_MAX + SLACK_SECONDS)
        print(f"frozen in a lease: an account of the frozen node is at home elsewhere {took:.2f} s later")


class Proved(Nodes):
    def setUp(self):
        model = test_crashes.config

        def restricted(port):
            text = model(port).replace('id = "small"', 'id = "small"\nregion_restrictions = ["KP"]')
            return f'[server]\ntrusted_proxies = ["127.0.0.1"]\ncountry_header = "cf-ipcountry"\n{text}'

        test_crashes.config = restricted
        self.addCleanup(setattr, test_crashes, "config", model)
        super().setUp()

    def test_a_model_is_refused_to_a_country_at_every_node(self):
        key = self.keys[0]
        for server in (self.server, self.second):
            self.assertEqual(self.chat(server, key, {"cf-ipcountry": "KR"})[0], 200)
            status, _, text = self.chat(server, key, {"cf-ipcountry": "kp"})
            self.assertEqual((status, b"(KP)" in text), (403, True), text)


class Revoked(Nodes):
    def test_a_key_that_was_revoked_stops_working_though_the_node_hears_nothing(self):
        secret = self.second.create_key("inference", account="caller-0")
        self.assertEqual(self.chat(self.server, secret)[0], 200)
        listed = json.loads(self.second.command("keys", "list", "--account", "caller-0", "--json"))
        made = next(key for key in listed if key["last6Chars"] == secret[-6:])
        self.proxy.set_fault(Fault.SWALLOW, "listen")
        self.second.command("keys", "revoke", made["id"])
        took = self.wait_for(
            lambda: self.chat(self.server, secret)[0] == 401, REVOKED_SECONDS_MAX + SLACK_SECONDS, self.server.tail
        )
        print(f"a revoked key was refused after {took:.2f} s")


class Clocks(Nodes):
    def test_a_node_whose_clock_differs_from_the_database_takes_no_accounts_until_it_is_right(self):
        config = self.server.config.split("\n[store]")[0]
        for offset, words in ((DAY, "ahead of"), (-DAY, "behind")):
            kind = type("Skewed", (SkewedNode,), {"offset": offset})
            with test_cluster.node(self.url, 3, kind=kind)(config=config) as skewed:
                refused, seconds, _ = self.chat(skewed, self.keys[0])
                self.assertEqual(refused, 503)
                print(f"a clock a day {words} the database's: 503 after {seconds:.2f} s")
                self.assertLess(seconds, REFUSED_SECONDS_MAX)
                status, checks = self.ready(skewed)
                self.assertEqual(status, 503)
                self.assertIn(words, checks["clock"])
                self.assertIn(words, skewed.tail())
                self.assertEqual(skewed.metric("ledger_owners_at_home") or 0, 0)
                self.assertEqual(self.chat(self.second, self.keys[0])[0], 200, "others go on")
                skewed.set_clock(0)
                back = self.wait_for(lambda: self.chat(skewed, self.keys[0])[0] == 200, BACK_SECONDS_MAX, skewed.tail)
                print(f"a clock that is right again: charging again after {back:.2f} s")
                self.wait_for(lambda: self.ready(skewed)[0] == 200, BACK_SECONDS_MAX, skewed.tail)
        self.check_books()


class Pruned(unittest.TestCase):
    def test_old_usage_rows_are_dropped_by_nodes_that_share_a_database(self):
        url = POSTGRES.database()
        books = test_crashes.Books()
        books.enterContext, books.addCleanup = self.enterContext, self.addCleanup
        books.open(test_cluster.node(url, 1, store="keep_usage_days = 30\n"))
        key = books.keys[0]
        for _ in range(2):
            answer, _ = test_crashes.send(books.server.api, key, "POST", "/chat/completions", test_cluster.CHAT)
            self.assertEqual(answer.status, 200)
        books.assertEqual = self.assertEqual

        def rows():
            return sum(1 for _ in books.history(key))

        there = rows()
        self.assertGreater(there, 0)
        POSTGRES.execute(url, f"UPDATE usage SET at_ms = at_ms - {60 * DAY * 1000}")
        deadline = time.monotonic() + BACK_SECONDS_MAX
        while rows():
            self.assertLess(time.monotonic(), deadline, books.server.tail())
            time.sleep(0.2)


if __name__ == "__main__":
    unittest.main()
