"""Tests that an idempotent chain call survives kill -9 at each of its steps and a retry.

External conditions stop the call at each step: a node that does not answer, a locked database, a
client that does not read. After each kill the service restarts on the same data; the call must be
charged once or not at all, and the retry must get the same response.
"""

import decimal
import http.client
import json
import os
import socket
import sqlite3
import time
import unittest
import urllib.parse
import urllib.request

from node import HASH, Nodes, networks
from server import Server

CREDIT = decimal.Decimal("5")
BASE_COST = decimal.Decimal("0.0000125")  # 20 credits at 625 nano-dollars.
ZKSYNC_SEND_COST = decimal.Decimal("0.00001875")  # 30 credits: the base of zkSync.
WAIT_SECONDS_MAX = 20
GAS_PRICE = '{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
# zkSync's own transaction type, whose hash is not the hash of its bytes.
SEND = '{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["0x71c0"]}'


class Steps(unittest.TestCase):
    def setUp(self):
        self.node = self.enterContext(Nodes())
        self.server = self.enterContext(Server(config=networks(self.node, "base-mainnet", "zksync-mainnet")))
        self.server.create_account("caller")
        self.server.command("accounts", "credit", "caller", str(CREDIT))
        self.key = self.server.create_key("admin", account="caller")

    def test_before_all_of_the_request_has_arrived(self):
        self.begin("base-mainnet", GAS_PRICE, cut=10)
        self.crash()
        self.check_charges(BASE_COST * 0)
        self.check_runs_anew("base-mainnet", GAS_PRICE, BASE_COST, calls=1)

    def test_while_the_node_works(self):
        self.node.may_answer.clear()
        self.begin("base-mainnet", GAS_PRICE)
        self.wait_for(self.node.arrived)
        self.crash()
        self.check_charges(BASE_COST * 0)
        self.node.may_answer.set()
        self.check_runs_anew("base-mainnet", GAS_PRICE, BASE_COST, calls=2)

    def test_after_the_charge_was_decided_and_before_it_is_on_disk(self):
        writing = self.database()
        writing.execute("BEGIN IMMEDIATE")  # The service waits for the write lock.
        self.begin("base-mainnet", GAS_PRICE)
        self.wait_for(self.node.answered)
        self.wait_until(lambda: self.server.metric("ledger_unwritten_groups") == 1)
        self.crash(before_start=lambda: writing.execute("ROLLBACK"))
        self.check_charges(BASE_COST * 0)
        self.check_runs_anew("base-mainnet", GAS_PRICE, BASE_COST, calls=2)

    def test_after_the_charge_is_on_disk_and_before_the_answer_is_read(self):
        self.begin("base-mainnet", GAS_PRICE)
        self.wait_until(lambda: self.count("idempotency") == 1)
        self.crash()
        self.check_charges(BASE_COST)
        self.check_is_replayed("base-mainnet", GAS_PRICE, BASE_COST)

    def test_after_the_answer_was_read(self):
        status, headers, first = self.send("base-mainnet", GAS_PRICE)
        self.assertEqual((status, headers.get("idempotent-replayed")), (200, None))
        self.crash()
        body = self.check_is_replayed("base-mainnet", GAS_PRICE, BASE_COST)
        self.assertEqual(body, first)

    def test_a_transaction_is_in_the_log_before_it_is_sent_even_without_a_hash(self):
        self.node.may_answer.clear()
        self.begin("zksync-mainnet", SEND)
        self.wait_for(self.node.arrived)
        self.crash()
        self.assertEqual(self.rows("SELECT network, tx_hash FROM rpc_tx"), [("zksync-mainnet", None)])
        self.check_charges(BASE_COST * 0)
        self.node.may_answer.set()
        self.check_runs_anew("zksync-mainnet", SEND, ZKSYNC_SEND_COST, calls=2)
        self.assertEqual([row[0] for row in self.rows("SELECT tx_hash FROM rpc_tx ORDER BY seq")], [None, HASH])

    def check_runs_anew(self, network, body, cost, calls):
        """Asserts that the first retry runs the call once and the second is a replay."""
        status, headers, text = self.send(network, body)
        self.assertEqual((status, headers.get("idempotent-replayed")), (200, None), text)
        self.assertEqual(len(self.node.calls), calls)
        self.check_is_replayed(network, body, cost)

    def check_is_replayed(self, network, body, cost):
        calls = len(self.node.calls)
        status, headers, text = self.send(network, body)
        self.assertEqual((status, headers.get("idempotent-replayed")), (200, "true"), text)
        self.assertEqual(len(self.node.calls), calls, "a replay asks no node")
        self.check_charges(cost)
        return text

    def check_charges(self, cost):
        place = urllib.request.Request(f"{self.server.api}/billing/balance", headers=self.headers())
        with urllib.request.urlopen(place, timeout=WAIT_SECONDS_MAX) as answer:
            balance = json.loads(answer.read(), parse_float=decimal.Decimal)["balances"]["usd"]
        self.assertEqual(decimal.Decimal(balance), CREDIT - cost)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))

    def crash(self, before_start=lambda: None):
        self.server.kill()
        before_start()
        self.node.arrived.clear()
        self.server.start_again()

    def headers(self):
        return {
            "authorization": f"Bearer {self.key}",
            "content-type": "application/json",
            "idempotency-key": "one-and-the-same",
        }

    def begin(self, network, body, cut=0):
        """Sends a call, or all but its last bytes, without reading the response."""
        place = urllib.parse.urlparse(self.server.api)
        connection = socket.create_connection((place.hostname, place.port))
        self.addCleanup(connection.close)
        head = [f"POST {place.path}/crypto/rpc/{network} HTTP/1.1", f"host: {place.netloc}"]
        head += [f"{name}: {value}" for name, value in self.headers().items()]
        head += [f"content-length: {len(body)}", "", ""]
        connection.sendall("\r\n".join(head).encode() + body.encode()[: len(body) - cut])

    def send(self, network, body):
        place = urllib.parse.urlparse(self.server.api)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=WAIT_SECONDS_MAX)
        connection.request("POST", f"{place.path}/crypto/rpc/{network}", body, self.headers())
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, answer.headers, text

    def database(self):
        path = os.path.join(self.server.folder, "data", "tollgate.db")
        connection = sqlite3.connect(path, isolation_level=None)
        self.addCleanup(connection.close)
        return connection

    def rows(self, question):
        return self.database().execute(question).fetchall()

    def count(self, table):
        return self.rows(f"SELECT count(*) FROM {table}")[0][0]

    def wait_for(self, event):
        self.assertTrue(event.wait(WAIT_SECONDS_MAX), "it should have come by now")

    def wait_until(self, is_so):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not is_so():
            self.assertLess(time.monotonic(), deadline, "it should be so by now")
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
