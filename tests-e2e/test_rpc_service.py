"""Tests of operating the chain proxy: reloads, metrics and cleanup."""

import json
import os
import sqlite3
import time
import unittest
import urllib.error
import urllib.request

from node import Nodes, networks
from server import Server

WAIT_SECONDS_MAX = 30


class RpcService(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = cls.enterClassContext(Nodes())
        cls.server = cls.enterClassContext(Server(config=networks(cls.node, "base-mainnet")))
        cls.server.command("accounts", "credit", "default", "5")
        cls.key = cls.server.create_key("inference")

    def test_another_network_is_served_after_a_reload_and_the_old_one_no_longer(self):
        self.addCleanup(self.reload, "base-mainnet")
        self.assertEqual(self.networks(), ["base-mainnet"])
        self.reload("ethereum-mainnet")
        self.assertEqual(self.networks(), ["ethereum-mainnet"])
        self.assertEqual(self.call("ethereum-mainnet")[0], 200)
        self.assertEqual(self.call("base-mainnet")[0], 503)

    def test_a_configuration_that_cannot_be_used_changes_nothing(self):
        self.server.configure(networks(self.node, "base-maimnet"))
        self.addCleanup(self.reload, "base-mainnet")
        with self.assertRaisesRegex(AssertionError, "unknown network `base-maimnet`"):
            self.server.command("models", "reload")
        self.assertEqual(self.networks(), ["base-mainnet"])

    def test_credits_and_requests_to_nodes_are_counted(self):
        credits = 'rpc_credits_total{network="base-mainnet"}'
        asked = 'rpc_upstream_requests_total{network="base-mainnet",outcome="answered"}'
        before = [self.server.metric(name) or 0 for name in (credits, asked)]
        self.assertEqual(self.call("base-mainnet")[0], 200)
        after = [self.server.metric(name) for name in (credits, asked)]
        self.assertEqual(after, [before[0] + 20, before[1] + 1])
        self.assertEqual(self.server.metric("ledger_running"), 1)
        self.assertEqual(self.server.metric("reconcile_diff_nano"), 0)

    def test_answers_that_expired_are_dropped(self):
        self.assertEqual(self.call("base-mainnet", {"idempotency-key": "old"})[0], 200)
        path = os.path.join(self.server.folder, "data", "tollgate.db")
        database = sqlite3.connect(path, isolation_level=None, timeout=WAIT_SECONDS_MAX)
        self.addCleanup(database.close)
        database.execute("UPDATE idempotency SET expires_ms = 1 WHERE key = 'old'")
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while database.execute("SELECT count(*) FROM idempotency WHERE key = 'old'").fetchone() != (0,):
            self.assertLess(time.monotonic(), deadline, "the answer should be gone by now")
            time.sleep(0.1)

    def reload(self, *slugs):
        self.server.configure(networks(self.node, *slugs))
        self.server.command("models", "reload")

    def networks(self):
        with urllib.request.urlopen(f"{self.server.api}/crypto/rpc/networks", timeout=WAIT_SECONDS_MAX) as answer:
            return json.loads(answer.read())["networks"]

    def call(self, network, headers=()):
        body = b'{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json", **dict(headers)}
        request = urllib.request.Request(f"{self.server.api}/crypto/rpc/{network}", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()


if __name__ == "__main__":
    unittest.main()
