"""Tests that responses stay linearizable per account, on three nodes under faults of every kind.
HISTORY_ROUNDS=200 is the long form, HISTORY_SEED repeats a run."""

import decimal
import http.client
import json
import os
import random
import signal
import threading
import time
import unittest

import test_cluster
import test_crashes
from fault_proxy import Fault, FaultProxy
from history import OK, REFUSED, UNKNOWN, Recorder, Undecided, adds_up, check
from postgres import Postgres
from test_cluster_faults import SkewedNode

ROUNDS = int(os.environ.get("HISTORY_ROUNDS", "10"))
IS_LONG = 10 < ROUNDS
CALLERS = 6
ACCOUNTS = 3
START = decimal.Decimal("0.002")
CREDIT = decimal.Decimal("0.0005")
# Spending limit of a key of the first account in each round, in calls.
LIMITED_CALLS = 12
NANO = 10**9
COST = int(test_crashes.CALL_COST * NANO)
# Durations before, during and after a fault.
CALM_SECONDS = 0.5
FAULT_SECONDS = 1.5
AFTER_SECONDS = 0.5
# Long enough to lose a lease; for the long form.
LONG_SECONDS = 20
PAUSE_SECONDS = 0.02
# A key that was refused more than twenty times in 30 s is not answered for as long.
REFUSED_PAUSE_SECONDS = 0.5
BLOCKED_SECONDS_MAX = 60
SETTLED_SECONDS_MAX = 60
# Gauges are updated once per second.
GAUGE_SECONDS = 1.3
CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
DAY = 86_400


def setUpModule():
    global POSTGRES
    POSTGRES = unittest.enterModuleContext(Postgres())


class Caller(threading.Thread):
    """Sends calls, credits and reads, each to a random node, and records the responses."""

    def __init__(self, test, number):
        super().__init__(daemon=True)
        self.test, self.number = test, number
        self.chance = random.Random(f"{test.seed}-{test.round}-{number}")
        self.turn = 0

    def run(self):
        while not self.test.is_over.is_set():
            self.turn += 1
            account = self.chance.randrange(ACCOUNTS)
            kind = self.chance.choices(["call", "named", "limited", "read"], [5, 3, 3, 2])[0]
            told = getattr(self, kind)(account)
            time.sleep(REFUSED_PAUSE_SECONDS if told and told.outcome == REFUSED else PAUSE_SECONDS)

    def call(self, account):
        return self.charge(account, self.test.keys[account])

    def named(self, account):
        name = f"{self.test.round}-{self.number}-{self.turn}"
        while not self.test.is_over.is_set():
            told = self.charge(account, self.test.keys[account], name=name)
            # A call without a response is retried under its name, and sometimes one with a response is, too.
            if told.outcome == REFUSED or (told.outcome == OK and self.chance.random() < 0.7):
                return told
            time.sleep(PAUSE_SECONDS)

    def limited(self, _):
        return self.charge(0, self.test.limited, key="limited")

    def read(self, account):
        def work():
            answer, text = self.send(self.test.keys[account], "GET", "/billing/balance")
            if answer.status != 200:
                return UNKNOWN, {}
            return OK, {"amount": nanos(text)}

        self.test.recorder.record(account, "read", work)

    def charge(self, account, secret, key="", name=""):
        def work():
            headers = {"idempotency-key": name} if name else {}
            answer, text = self.send(secret, "POST", "/crypto/rpc/base-mainnet", CALL, headers)
            if answer.status == 200:
                return OK, {"is_replay": answer.headers.get("idempotent-replayed") == "true"}
            if answer.status == 402:
                return REFUSED, {}
            if answer.status not in (429, 500, 502, 503, 504):
                self.test.surprises.append((answer.status, text))
            return UNKNOWN, {}

        return self.test.recorder.record(account, "charge", work, amount=COST, key=key, name=name)

    def send(self, *arguments):
        api = self.chance.choice(self.test.nodes).api
        try:
            return test_crashes.send(api, *arguments)
        except http.client.HTTPException as error:
            raise OSError(error) from error


class Operator(Caller):
    """Adds credit with the commands of a node."""

    def run(self):
        while not self.test.is_over.is_set():
            self.credit(self.chance.randrange(ACCOUNTS))
            time.sleep(0.3)

    def credit(self, account):
        def work():
            try:
                self.chance.choice(self.test.nodes).command("accounts", "credit", f"caller-{account}", str(CREDIT))
            except AssertionError:
                return UNKNOWN, {}
            return OK, {}

        self.test.recorder.record(account, "credit", work, amount=int(CREDIT * NANO))


def nanos(text):
    balance = json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)["balances"]["usd"]
    return int(decimal.Decimal(balance) * NANO)


class Histories(test_crashes.Books, unittest.TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("HISTORY_SEED", random.randrange(1 << 32)))
        url = POSTGRES.database()
        self.proxies = [self.enterContext(FaultProxy(POSTGRES)) for _ in range(3)]
        engine = self.engine = test_crashes.Engine(("127.0.0.1", 0), test_crashes.Upstream)
        threading.Thread(target=engine.serve_forever, daemon=True).start()
        self.addCleanup(engine.server_close)
        self.addCleanup(engine.shutdown)
        config = test_crashes.config(engine.server_port)
        self.nodes = []
        for number, proxy in enumerate(self.proxies, 1):
            kind = test_cluster.node(proxy.url(url), number, kind=SkewedNode if number == 3 else test_cluster.Server)
            self.nodes.append(self.enterContext(kind(config=config)))
        self.server = self.nodes[0]
        self.keys = [self.account(f"caller-{number}") for number in range(ACCOUNTS)]
        self.balances = [int(START * NANO)] * ACCOUNTS
        self.recorder, self.surprises = Recorder(), []
        self.decided = self.undecided = 0

    def account(self, name):
        self.server.create_account(name)
        self.server.command("accounts", "credit", name, str(START))
        self.server.command("accounts", "tier", name, "staff")
        return self.server.create_key("admin", account=name)

    def faults(self):
        """Functions that each start a fault and return a function that ends it."""
        return {
            "killed": self.kill,
            "stopped": self.stop_process,
            "swallowed": lambda chance: self.spoil(chance, lambda proxy: proxy.set_fault(Fault.SWALLOW)),
            "frozen": lambda chance: self.spoil(chance, lambda proxy: proxy.set_fault(Fault.FREEZE)),
            "frozen in a lease": lambda chance: self.spoil(chance, lambda proxy: proxy.freeze_before("own", b"COMMIT")),
            "frozen in a charge": lambda chance: self.spoil(
                chance, lambda proxy: proxy.freeze_before("write", b"COMMIT")
            ),
            "deaf": lambda chance: self.spoil(chance, lambda proxy: proxy.set_fault(Fault.SWALLOW, "listen")),
            "cut": lambda chance: self.spoil(chance, lambda proxy: (proxy.refuse(True), proxy.cut())),
            "slow": lambda chance: self.spoil(chance, lambda proxy: proxy.delay(0.2)),
            "wrong clock": self.skew,
        }

    def kill(self, chance):
        victim = chance.choice(self.nodes)
        victim.kill()
        return victim.start_again

    def stop_process(self, chance):
        process = chance.choice(self.nodes).process
        process.send_signal(signal.SIGSTOP)
        return lambda: process.send_signal(signal.SIGCONT)

    def spoil(self, chance, begin):
        proxy = chance.choice(self.proxies)
        begin(proxy)
        return proxy.heal

    def skew(self, chance):
        self.nodes[2].set_clock(chance.choice([2 * DAY, -2 * DAY, 90]))
        return lambda: self.nodes[2].set_clock(0)

    def test_what_callers_were_told_is_explained_by_one_thing_after_the_other(self):
        chance, began = random.Random(self.seed), time.monotonic()
        names, counts = [], {OK: 0, REFUSED: 0, UNKNOWN: 0}
        for self.round in range(ROUNDS):
            if not names:
                names = sorted(self.faults())
                chance.shuffle(names)
            name = names.pop()
            with self.subTest(HISTORY_SEED=self.seed, round=self.round, fault=name):
                self.play(name, chance)
                for account, operations in self.recorder.take().items():
                    for operation in operations:
                        counts[operation.outcome] += 1
                    with self.subTest(account=account):
                        self.check_history(account, operations)
                self.assertEqual(self.surprises, [])
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))
        self.assertGreater(counts[OK], ROUNDS * 10, "the callers hardly got through")
        took = time.monotonic() - began
        print(f"{ROUNDS} rounds in {took:.0f} s: {counts}; {self.decided} histories decided, {self.undecided} not")
        self.assertGreater(self.decided, self.undecided, "most searches should come to an end")

    def play(self, name, chance):
        """Plays one round: clients run, a fault starts and ends, and all requests finish."""
        self.is_over = threading.Event()
        self.limited = self.make_limited_key()
        callers = [Caller(self, number) for number in range(CALLERS)] + [Operator(self, CALLERS)]
        for caller in callers:
            caller.start()
        time.sleep(CALM_SECONDS)
        end = self.faults()[name](chance)
        time.sleep(LONG_SECONDS if IS_LONG and chance.random() < 0.2 else FAULT_SECONDS)
        end()
        time.sleep(AFTER_SECONDS)
        self.is_over.set()
        for caller in callers:
            caller.join()
        self.wait_until_settled()

    def make_limited_key(self):
        limit = float(LIMITED_CALLS * test_crashes.CALL_COST)
        body = {"apiKeyType": "INFERENCE", "description": "limited", "consumptionLimit": {"usd": limit}}
        text = self.ask(self.keys[0], "POST", "/api_keys", json.dumps(body))
        return json.loads(text)["data"]["apiKey"]

    def ask(self, *arguments):
        """The answer to a request that callers who were refused may have to wait for."""
        deadline = time.monotonic() + BLOCKED_SECONDS_MAX
        while True:
            answer, text = test_crashes.send(self.server.api, *arguments)
            if answer.status == 200:
                return text
            self.assertEqual(answer.status, 429, text)
            self.assertLess(time.monotonic(), deadline, text)
            time.sleep(1)

    def wait_until_settled(self):
        """Waits until every node can charge and none holds or writes anything, by its gauges."""
        deadline = time.monotonic() + SETTLED_SECONDS_MAX
        time.sleep(GAUGE_SECONDS)
        for server in self.nodes:
            while not self.is_settled(server):
                self.assertLess(time.monotonic(), deadline, server.tail())
                time.sleep(0.1)

    def is_settled(self, server):
        names = ("ledger_running", "ledger_open_holds", "ledger_unwritten_groups", "ledger_late_charges")
        return [server.metric(name) for name in names] == [1, 0, 0, 0]

    def check_history(self, account, operations):
        """Checks a history. The final balance is read when nothing runs, so it is exact."""
        last = {}

        def work():
            last["balance"] = nanos(self.ask(self.keys[account], "GET", "/billing/balance"))
            return OK, {"amount": last["balance"]}

        self.recorder.record(account, "read", work)
        operations += self.recorder.operations.pop(account)
        limits = {"limited": LIMITED_CALLS * COST}
        told = [(it.kind, it.outcome, it.amount, it.key, it.name) for it in operations]
        start, end = self.balances[account], last["balance"]
        # A round that is not explained says nothing about the next one.
        self.balances[account] = end
        self.assertTrue(adds_up(operations, start, end), f"caller-{account}: {start} to {end}: {told}")
        try:
            self.assertTrue(check(operations, start, limits), f"caller-{account}: {start} to {end}: {told}")
            self.decided += 1
        except Undecided:
            self.undecided += 1


if __name__ == "__main__":
    unittest.main()
