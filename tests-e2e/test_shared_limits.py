"""Tests of two nodes that share limits and blocks of unauthenticated callers in Redis, and work without it."""

import http.client
import threading
import time
import unittest
import urllib.parse

import test_cluster
from postgres import Postgres
from redis_server import Redis, TlsRedis
from server import Server

LIMIT = 200
CALLERS = 4
# A window is a minute; a burst of this test needs some seconds of it.
WINDOW_SECONDS_LEFT_MIN = 20
SEEN_SECONDS_MAX = 15


def setUpModule():
    global POSTGRES
    POSTGRES = unittest.enterModuleContext(Postgres())


def guess(server):
    """The status of a request with a bad key."""
    return ask(server, "/billing/balance", {"authorization": "Bearer wrong"}).status


def ask(server, path="/models", headers=None):
    """The response to a request without a credential."""
    place = urllib.parse.urlparse(server.api)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    try:
        connection.request("GET", place.path + path, headers=headers or {})
        answer = connection.getresponse()
        answer.read()
        return answer
    finally:
        connection.close()


class SharedLimits(unittest.TestCase):
    def setUp(self):
        self.redis = self.enterContext(Redis())
        config = f'[limits]\nurl = "{self.redis.url}"\n\n[[tier]]\nid = "default"\nlike = "default"\ngeneral_requests = {LIMIT}\n'
        url = POSTGRES.database()
        self.nodes = [self.enterContext(test_cluster.node(url, number)(config=config)) for number in (1, 2)]
        for server in self.nodes:
            self.wait_for(lambda server=server: server.metric("limits_shared") == 1)

    def test_an_address_has_one_limit_at_all_nodes_together(self):
        self.wait_for_time_in_window()
        self.check_burst()
        for server in self.nodes:
            self.assertEqual(ask(server).status, 429)

    def test_an_address_that_one_node_blocks_is_blocked_at_the_other(self):
        first, second = self.nodes
        self.assertEqual([guess(first) for _ in range(22)], [401] * 21 + [429])
        tries = 0
        while (status := guess(second)) != 429:
            self.assertEqual(status, 401)
            tries += 1
            self.assertLess(tries, 15, "it was not told, and more would block it here as well")
            time.sleep(0.1)

    def test_each_node_has_its_part_of_the_limit_while_redis_is_away(self):
        # The nodes know of each other after ten seconds.
        time.sleep(11)
        self.redis.kill()
        for server in self.nodes:
            self.wait_for(lambda server=server: (ask(server), server.metric("limits_shared"))[1] == 0)
        self.wait_for_new_window()
        for server in self.nodes:
            begun = time.monotonic()
            self.assertEqual(ask(server).status, 200)
            self.assertLess(time.monotonic() - begun, 1, "it waited for what is away")
            let_in = 1 + self.burst([server], LIMIT)
            self.assertLessEqual(abs(let_in - LIMIT / 2), LIMIT * 0.05)
            self.assertGreater(server.metric("limits_unshared_total"), 0)
        self.redis.start()
        for server in self.nodes:
            self.wait_for(lambda server=server: server.metric("limits_shared") == 1)
        self.wait_for_new_window()
        self.check_burst()

    def test_a_server_that_is_away_is_noticed_though_nobody_is_counted(self):
        self.redis.kill()
        for server in self.nodes:
            self.wait_for(lambda server=server: server.metric("limits_shared") == 0)
            self.assertIn("counted by this node alone", server.tail())

    def check_burst(self):
        """Asserts that both nodes together admit the limit, except for unused shares and late responses."""
        let_in = self.burst(self.nodes, 2 * LIMIT)
        print(f"{let_in} of {LIMIT} were let in")
        self.assertLessEqual(abs(let_in - LIMIT), LIMIT * 0.05)

    def burst(self, nodes, requests):
        """Sends requests to the nodes in turn; returns the number admitted."""
        answers = []

        def call(number):
            for turn in range(requests // CALLERS):
                answers.append(ask(nodes[(number + turn) % len(nodes)]).status)

        callers = [threading.Thread(target=call, args=(number,)) for number in range(CALLERS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        self.assertEqual(set(answers) - {200, 429}, set())
        return answers.count(200)

    def seconds_left(self):
        reset = int(ask(self.nodes[0]).headers["x-ratelimit-reset-requests"])
        return reset - time.time()

    def wait_for_time_in_window(self):
        if self.seconds_left() < WINDOW_SECONDS_LEFT_MIN:
            self.wait_for_new_window()

    def wait_for_new_window(self):
        time.sleep(self.seconds_left() + 0.1)

    def wait_for(self, is_so):
        deadline = time.monotonic() + SEEN_SECONDS_MAX
        while not is_so():
            self.assertLess(time.monotonic(), deadline, self.nodes[0].tail())
            time.sleep(0.1)


class OverTls(unittest.TestCase):
    """`rediss://`: the server's certificate is checked before anything is sent."""

    def test_a_server_is_trusted_by_the_authority_of_its_certificate(self):
        redis = self.enterContext(TlsRedis())
        config = f'[limits]\nurl = "{redis.url}"\n'

        class Trusting(Server):
            def _environment(self):
                return super()._environment() | {"SSL_CERT_FILE": redis.authority}

        trusting = self.enterContext(Trusting(config=config))
        other = self.enterContext(Server(config=config))
        deadline = time.monotonic() + SEEN_SECONDS_MAX
        while trusting.metric("limits_shared") != 1:
            self.assertLess(time.monotonic(), deadline, trusting.tail())
            time.sleep(0.1)
        while "invalid peer certificate" not in other.tail():
            self.assertLess(time.monotonic(), deadline, other.tail())
            time.sleep(0.1)
        self.assertEqual(other.metric("limits_shared"), 0)
        self.assertEqual(ask(other).status, 200)


if __name__ == "__main__":
    unittest.main()
