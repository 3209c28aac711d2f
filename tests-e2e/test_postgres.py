"""Tests of the service on Postgres: the ledger after kills, and one node at a time."""

import json
import signal
import tempfile
import time
import unittest

import test_crashes
from postgres import Postgres
from server import Server

KILLS = test_crashes.KILLS // 5
# A lease of 15 seconds, plus the time of a start.
TAKEN_OVER_SECONDS_MAX = 30
CHAT = json.dumps({"model": "small", "messages": [{"role": "user", "content": "count"}]})


def setUpModule():
    global POSTGRES
    POSTGRES = unittest.enterModuleContext(Postgres())


def on(url):
    """A server class that uses this database."""

    class OnPostgres(Server):
        def __init__(self, binary=None, config=""):
            super().__init__(binary, config + f'\n[store]\nurl = "{url}"\n')

    return OnPostgres


class Killed(test_crashes.Books, unittest.TestCase):
    def setUp(self):
        self.open(on(POSTGRES.database()))

    def test_nothing_that_was_acknowledged_is_lost_or_doubled(self):
        callers = self.crash_under(test_crashes.Chatter, KILLS, self.server.kill)
        self.check_acknowledged(callers, KILLS)

    def test_nothing_is_lost_or_doubled_when_the_database_is_killed(self):
        callers = [test_crashes.Chatter(self, self.keys[number::4]) for number in range(4)]
        self.api = self.server.api
        for caller in callers:
            caller.start()
        for how in ("immediate", "fast", "immediate"):
            time.sleep(1)
            POSTGRES.stop(how)
            POSTGRES.start()
            self.wait_until_charging()
        self.is_over.set()
        for caller in callers:
            caller.join()
        self.check_acknowledged(callers, 3)

    def test_work_is_refused_before_it_begins_while_the_database_is_away(self):
        key = self.keys[0]
        self.assertEqual(self.chat(key).status, 200)
        POSTGRES.stop()
        try:
            deadline = time.monotonic() + 20
            while (refused := self.chat(key)).status == 200:
                self.assertLess(time.monotonic(), deadline, "it still charges")
            self.assertEqual(refused.status, 503)
        finally:
            POSTGRES.start()
        self.wait_until_charging()
        self.check_books()

    def chat(self, key):
        return test_crashes.send(self.server.api, key, "POST", "/chat/completions", CHAT)[0]

    def wait_until_charging(self):
        deadline = time.monotonic() + TAKEN_OVER_SECONDS_MAX
        while self.chat(self.keys[0]).status != 200:
            self.assertLess(time.monotonic(), deadline, self.server.tail())
            time.sleep(0.1)

    def check_acknowledged(self, callers, least):
        paid = {request: cost for caller in callers for request, cost in caller.told.items()}
        with self.subTest(CRASH_SEED=self.seed):
            charged = self.check_books()
            self.assertGreater(len(paid), least, "the callers hardly got through")
            for request, cost in paid.items():
                self.assertIn(request, charged, f"{request} was acknowledged and lost")
                self.assertEqual(sum(charged[request].values()), cost)


class Alone(test_crashes.Books, unittest.TestCase):
    def setUp(self):
        self.url = POSTGRES.database()
        self.open(on(self.url))

    def test_a_command_is_not_carried_out_beside_a_service_that_is_elsewhere(self):
        other = on(self.url)()
        with self.assertRaisesRegex(AssertionError, "in use by the node"):
            other.folder = self.enterContext(tempfile.TemporaryDirectory())
            other.configure(other.config)
            other.command("accounts", "list")

    def test_a_node_that_slept_through_its_lease_charges_nobody(self):
        key = self.keys[0]
        self.server.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        with on(self.url)(config=self.server.config.split("\n[store]")[0]) as second:
            answer, text = test_crashes.send(second.api, key, "POST", "/chat/completions", CHAT)
            self.assertEqual(answer.status, 200, text)
            self.server.process.send_signal(signal.SIGCONT)
            try:
                answer, _ = test_crashes.send(self.server.api, key, "POST", "/chat/completions", CHAT)
                self.assertNotEqual(answer.status, 200)
            except OSError:
                pass  # It has ended already.
            self.assertNotEqual(self.server.process.wait(TAKEN_OVER_SECONDS_MAX), 0)
            self.server = second
            self.check_books()


if __name__ == "__main__":
    unittest.main()
