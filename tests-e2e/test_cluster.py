"""Tests of three nodes on one Postgres: each node accepts any request, and the ledger stays correct after kills."""

import json
import os
import random
import signal
import threading
import time
import unittest

import test_crashes
from nginx import Nginx, free_port
from postgres import Postgres
from server import Server

NODES = 3
KILLS = max(3, test_crashes.KILLS // 5)
# Restarts of all nodes, and cuts of connections.
ROUNDS = max(2, test_crashes.KILLS // 12)
CUTS = max(5, test_crashes.KILLS // 3)
FORWARDED = 200
# With two providers, one of 2^12 choices has all sessions at one of them.
SESSIONS = 12
# A lease of 15 seconds, plus the time of a start.
TAKEN_OVER_SECONDS_MAX = 40
CHAT = json.dumps({"model": "small", "messages": [{"role": "user", "content": "count"}]})


def setUpModule():
    global POSTGRES
    POSTGRES = unittest.enterModuleContext(Postgres())


def node(url, number, kind=Server, store=""):
    """A server class for one of several nodes. `store` is added to its [store] section."""
    port = free_port()

    class Node(kind):
        # Fixed over restarts, for a proxy.
        listen = f"127.0.0.1:{free_port()}"

        def __init__(self, binary=None, config=""):
            cluster = f'[cluster]\nlisten = "127.0.0.1:{port}"\nnode = "node-{number}"\n'
            super().__init__(binary, config + f'\n[store]\nurl = "{url}"\n{store}\n{cluster}')

    return Node


def busy(server):
    """CPU time of a node's event loops in nanoseconds: those that serve clients, and the main one."""
    spent = {"lanes": 0, "main": 0}
    tasks = f"/proc/{server.process.pid}/task"
    for task in os.listdir(tasks):
        with (
            open(f"{tasks}/{task}/comm", encoding="utf-8") as comm,
            open(f"{tasks}/{task}/schedstat", encoding="utf-8") as stat,
        ):
            name, nanoseconds = comm.read().strip(), int(stat.read().split()[0])
        if name.startswith("lane-"):
            spent["lanes"] += nanoseconds
        elif int(task) == server.process.pid:
            spent["main"] += nanoseconds
    return spent


class Chatter(test_crashes.Chatter):
    """Sends each request to a random node."""

    def try_to_send(self, *arguments, **options):
        api = random.choice(self.test.nodes).api
        try:
            return test_crashes.send(api, *arguments, **options)
        except (OSError, test_crashes.http.client.HTTPException):
            time.sleep(0.01)
            return None


class Through(test_crashes.Chatter):
    """Sends requests through a proxy and records failures."""

    def __init__(self, test, keys, api):
        super().__init__(test, keys)
        self.api, self.failures = api, []

    def try_to_send(self, *arguments, **options):
        answer, text = test_crashes.send(self.api, *arguments, **options)
        if answer.status != 200:
            self.failures.append((answer.status, text))
        return answer, text


class Cluster(test_crashes.Books, unittest.TestCase):
    def setUp(self):
        self.url = POSTGRES.database()
        self.open(node(self.url, 1))
        self.nodes = [self.server]
        for number in range(2, NODES + 1):
            config = self.server.config.split("\n[store]")[0]
            self.nodes.append(self.enterContext(node(self.url, number)(config=config)))

    def chat(self, server, key):
        return test_crashes.send(server.api, key, "POST", "/chat/completions", CHAT)

    def test_any_node_takes_any_request_and_one_counts_it(self):
        key = self.keys[0]
        for _ in range(5):
            for server in self.nodes:
                answer, text = self.chat(server, key)
                self.assertEqual(answer.status, 200, text)
        balances = {test_crashes.send(server.api, key, "GET", "/billing/balance")[1] for server in self.nodes}
        self.assertEqual(len(balances), 1, "all nodes tell the same balance")
        self.check_books()

    def test_what_other_nodes_send_is_worked_on_by_all_event_loops(self):
        home, other = self.nodes[:2]
        self.assertEqual(self.chat(home, self.keys[0])[0].status, 200)
        before = busy(home)
        for _ in range(FORWARDED):
            self.assertEqual(self.chat(other, self.keys[0])[0].status, 200)
        after = busy(home)
        self.assertGreater(after["lanes"] - before["lanes"], after["main"] - before["main"])

    def test_a_revoked_key_stops_working_everywhere_within_a_second(self):
        secret = self.server.create_key("inference", account="caller-0")
        for server in self.nodes:
            self.assertEqual(self.chat(server, secret)[0].status, 200)
        listed = json.loads(self.server.command("keys", "list", "--account", "caller-0", "--json"))
        made = next(key for key in listed if key["last6Chars"] == secret[-6:])
        self.server.command("keys", "revoke", made["id"])
        time.sleep(1)
        for server in self.nodes:
            self.assertEqual(self.chat(server, secret)[0].status, 401)

    def test_credit_of_an_account_that_is_at_home_elsewhere(self):
        key = self.keys[0]
        self.assertEqual(self.chat(self.nodes[2], key)[0].status, 200)
        self.nodes[1].command("accounts", "credit", "caller-0", "1")
        _, text = test_crashes.send(self.nodes[2].api, key, "GET", "/billing/balance")
        self.assertGreater(json.loads(text)["balances"]["usd"], 5)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))

    def test_nothing_that_was_acknowledged_is_lost_or_doubled_when_nodes_are_killed(self):
        callers = [Chatter(self, self.keys[number::4]) for number in range(4)]
        for caller in callers:
            caller.start()
        chance = random.Random(self.seed)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.5, 1.5))
            victim = chance.choice(self.nodes)
            victim.kill()
            victim.start_again()
        self.finish(callers)

    def test_no_request_fails_while_one_node_after_the_other_is_started_anew(self):
        proxy = self.enterContext(Nginx([server.url for server in self.nodes]))
        callers = [Through(self, self.keys[number::4], proxy.api) for number in range(4)]
        for caller in callers:
            caller.start()
        for _ in range(ROUNDS):
            for server in self.nodes:
                time.sleep(1)
                self.assertEqual(server.stop(), 0, server.tail())
                server.start_again()
        time.sleep(1)
        self.finish(callers)
        self.assertEqual([failure for caller in callers for failure in caller.failures], [])

    def test_work_is_refused_before_it_begins_while_the_database_is_away_and_nothing_is_lost_or_doubled(self):
        callers = [Chatter(self, self.keys[number::4]) for number in range(4)]
        for caller in callers:
            caller.start()
        for how in ("fast", "immediate"):
            time.sleep(1)
            POSTGRES.stop(how)
            try:
                self.wait_until_refusing()
                asked = self.engine.asked
                for server in self.nodes:
                    self.assertEqual(self.chat(server, self.keys[0])[0].status, 503)
                self.assertEqual(self.engine.asked, asked, "it worked for what it could not charge")
            finally:
                POSTGRES.start()
            for server in self.nodes:
                self.wait_until_charging(server)
        self.finish(callers)

    def test_nothing_is_lost_or_doubled_when_connections_to_the_database_are_cut(self):
        callers = [Chatter(self, self.keys[number::4]) for number in range(4)]
        for caller in callers:
            caller.start()
        chance = random.Random(self.seed)
        for _ in range(CUTS):
            time.sleep(chance.uniform(0.1, 0.7))
            POSTGRES.cut_connections(self.url)
        for server in self.nodes:
            self.wait_until_charging(server)
            self.assertIsNone(server.process.poll(), "it should go on by itself")
        self.finish(callers)

    def test_a_charge_is_given_back_by_any_node(self):
        key = self.keys[0]
        before = self.get(key, "/billing/balance")["balances"]["usd"]
        self.assertEqual(self.chat(self.nodes[1], key)[0].status, 200)
        journal = self.nodes[1].command("ledger", "export", "--format", "json").splitlines()
        charge = json.loads(journal[-1])["entry"]
        self.assertLess(self.get(key, "/billing/balance")["balances"]["usd"], before)
        self.nodes[2].command("ledger", "refund", charge, "--reason", "it was wrong")
        self.assertEqual(self.get(key, "/billing/balance")["balances"]["usd"], before)

    def test_requests_of_a_session_go_to_one_provider_whichever_node_decides(self):
        second = self.add_second_provider()
        key = self.keys[0]
        homes = {}
        for session in range(SESSIONS):
            for server in self.nodes:
                homes.setdefault(session, set()).add(self.provider_of(session, server, key, second))
        self.assertEqual({len(names) for names in homes.values()}, {1}, homes)
        self.assertEqual(len(set.union(*homes.values())), 2, "the sessions are spread over both providers")
        # Another node decides about the account from now on.
        self.nodes.pop(0).kill()
        self.server = self.nodes[0]
        self.wait_until_charging()
        for session in range(SESSIONS):
            self.assertEqual({self.provider_of(session, self.server, key, second)}, homes[session])

    def add_second_provider(self):
        second = test_crashes.Engine(("127.0.0.1", 0), test_crashes.Upstream)
        threading.Thread(target=second.serve_forever, daemon=True).start()
        self.addCleanup(second.server_close)
        self.addCleanup(second.shutdown)
        url = f"http://127.0.0.1:{second.server_port}/v1"
        provider = f'[[provider]]\nid = "second"\nkind = "openai"\nbase_url = "{url}"\n'
        for server in self.nodes:
            model = server.config.replace("context_tokens", 'also = [{ provider = "second" }]\ncontext_tokens', 1)
            server.configure(provider + model)
            server.command("models", "reload")
        return second

    def provider_of(self, session, server, key, second):
        """The name of the provider that one request of a session went to."""
        before = second.asked
        headers = {"x-service-session": f"session-{session}"}
        answer, text = test_crashes.send(server.api, key, "POST", "/chat/completions", CHAT, headers)
        self.assertEqual(answer.status, 200, text)
        return "second" if before < second.asked else "first"

    def test_a_node_that_slept_through_its_lease_charges_nobody_and_comes_back_by_itself(self):
        callers = [Chatter(self, self.keys[number::4]) for number in range(4)]
        for caller in callers:
            caller.start()
        time.sleep(1)
        # The home of each account is the node that credited it.
        sleeper = self.nodes.pop(0)
        self.server = self.nodes[0]
        sleeper.process.send_signal(signal.SIGSTOP)
        time.sleep(20)
        sleeper.process.send_signal(signal.SIGCONT)
        self.wait_until_charging(sleeper)
        self.assertIsNone(sleeper.process.poll(), "it is the same process")
        with open(sleeper.log.name, encoding="utf-8") as log:
            self.assertIn("registers again", log.read())
        self.finish(callers)

    def finish(self, callers):
        self.is_over.set()
        for caller in callers:
            caller.join()
        paid = {request: cost for caller in callers for request, cost in caller.told.items()}
        with self.subTest(CRASH_SEED=self.seed):
            self.wait_until_charging()
            charged = self.check_books()
            self.assertGreater(len(paid), 10, "the callers hardly got through")
            for request, cost in paid.items():
                self.assertTrue(request in charged, f"{request} was acknowledged and lost")
                self.assertEqual(sum(charged[request].values()), cost)

    def wait_until_charging(self, server=None):
        server = server or self.server
        deadline = time.monotonic() + TAKEN_OVER_SECONDS_MAX
        for key in self.keys:
            while self.chat(server, key)[0].status != 200:
                self.assertLess(time.monotonic(), deadline, server.tail())
                time.sleep(0.2)

    def wait_until_refusing(self):
        """Waits until running requests have ended and new ones are refused."""
        deadline = time.monotonic() + TAKEN_OVER_SECONDS_MAX
        while any(self.chat(server, key)[0].status != 503 for server in self.nodes for key in self.keys):
            self.assertLess(time.monotonic(), deadline, self.server.tail())


if __name__ == "__main__":
    unittest.main()
