"""Tests with a full disk: the service stops charging and serving, and loses nothing."""

import decimal
import errno
import json
import os
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from node import Nodes, networks
from server import Server

DISK_BYTES = 32 * 1024 * 1024
CREDIT = decimal.Decimal("5")
CALL_COST = decimal.Decimal("0.0000125")
# The write-ahead log has space for some hundred charges. An account may make about a thousand calls per minute,
# so the test uses two accounts.
CALLS_MAX = 1_800
ACCOUNTS = ["first", "second"]
WAIT_SECONDS_MAX = 30


class OnSmallDisk(Server):
    """A server whose data is on its own small disk in memory."""

    is_mounted = False

    def _start(self):
        if not self.is_mounted:
            self.disk = os.path.join(self.folder, "data")
            os.mkdir(self.disk)
            mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tollgate-e2e", self.disk]
            subprocess.run(mount, check=True, capture_output=True)
            self.is_mounted = True
        super()._start()

    def __exit__(self, *_):
        if getattr(self, "process", None) is not None:
            self._end()
            del self.process
        if self.is_mounted:
            subprocess.run(["umount", self.disk], check=True)
        super().__exit__()

    def fill(self):
        with open(os.path.join(self.disk, "filler"), "wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def make_room(self):
        os.remove(os.path.join(self.disk, "filler"))


@unittest.skipUnless(os.geteuid() == 0, "only root can mount a disk")
class FullDisk(unittest.TestCase):
    def setUp(self):
        self.node = self.enterContext(Nodes())
        self.server = self.enterContext(OnSmallDisk(config=networks(self.node, "base-mainnet")))
        self.keys = [self.open_account(name) for name in ACCOUNTS]

    def open_account(self, name):
        self.server.create_account(name)
        self.server.command("accounts", "credit", name, str(CREDIT))
        self.server.command("accounts", "tier", name, "staff")
        return self.server.create_key("admin", account=name)

    def test_nothing_is_served_that_cannot_be_charged_and_nothing_charged_is_lost(self):
        self.assertEqual(self.call(), 200)
        self.server.fill()
        statuses = [self.call()]
        while statuses[-1] == 200 and len(statuses) < CALLS_MAX:
            statuses.append(self.call(self.keys[len(statuses) % 2]))
        self.assertEqual(statuses[-1], 503)
        asked = len(self.node.calls)
        self.assertEqual(self.call(), 503)
        self.assertEqual(len(self.node.calls), asked, "no node works for what cannot be charged")
        self.server.make_room()
        charged = 1 + statuses.count(200) + self.wait_until_served()
        self.check_balance(charged)
        self.server.kill()
        self.server.start_again()
        self.check_balance(charged)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))

    def wait_until_served(self):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while self.call() != 200:
            self.assertLess(time.monotonic(), deadline, "there is room again")
            time.sleep(0.1)
        return 1

    def check_balance(self, charged):
        left = sum(self.balance(key) for key in self.keys)
        self.assertEqual(left, len(self.keys) * CREDIT - charged * CALL_COST)

    def balance(self, key):
        request = urllib.request.Request(f"{self.server.api}/billing/balance", headers=self.headers(key))
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX) as answer:
            balances = json.loads(answer.read(), parse_float=decimal.Decimal)["balances"]
        return decimal.Decimal(balances["usd"])

    def call(self, key=None):
        body = b'{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
        request = urllib.request.Request(f"{self.server.api}/crypto/rpc/base-mainnet", body, self.headers(key))
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code

    def headers(self, key=None):
        return {"authorization": f"Bearer {key or self.keys[0]}", "content-type": "application/json"}


if __name__ == "__main__":
    unittest.main()
