"""Tests with a disk error at every step of a commit and of a backup: acknowledged data stays."""

import decimal
import errno
import json
import os
import subprocess
import unittest
import urllib.error
import urllib.request

from node import Nodes, networks

from faults.layer import Faulty

CREDIT = decimal.Decimal("5")
CALL_COST = decimal.Decimal("0.0000125")
SMALL_CREDIT = decimal.Decimal("0.0000001")
CALLS = 3
# More steps than any commit has; a step that is not reached ends the round early.
PLACES = int(os.environ.get("FAULT_PLACES", "6"))
FAULTS = [
    ("pwrite", errno.EIO),
    ("pwrite", errno.ENOSPC),
    ("sync", errno.EIO),
]


class Refusing(Faulty):
    """Fails one call, once it is armed."""

    def refuse(self, call, number, error):
        self.armed = os.path.join(self.folder, "armed")
        if os.path.exists(self.armed):
            os.remove(self.armed)
        self.settings = {"FAULT_FAIL": f"{call}:{number}:{error}", "FAULT_ARMED": self.armed}

    def halt(self):
        """Stops the server and releases its resources."""
        self.stop()
        self.kill()

    def arm(self):
        with open(self.armed, "w", encoding="utf-8"):
            pass


class IoErrors(unittest.TestCase):
    def setUp(self):
        self.node = self.enterContext(Nodes())
        self.server = self.enterContext(Refusing(config=networks(self.node, "base-mainnet")))
        self.server.create_account("one")
        self.server.command("accounts", "credit", "one", str(CREDIT))
        self.server.command("accounts", "tier", "one", "staff")
        self.key = self.server.create_key("admin", account="one")
        self.acknowledged = 0
        # Calls without a response: each may be charged or not.
        self.unknown = 0

    def test_an_error_at_any_place_of_a_commit_loses_nothing_that_was_acknowledged(self):
        stopped = 0
        for call, error in FAULTS:
            for place in range(1, PLACES + 1):
                with self.subTest(call=call, error=errno.errorcode[error], place=place):
                    stopped += self.suffer(call, place, error)
        self.assertGreater(stopped, 0, "no fault was ever met")
        print(f"{len(FAULTS) * PLACES} faults, {stopped} stops, {self.acknowledged} acknowledged")

    def suffer(self, call, place, error):
        self.server.halt()
        self.server.refuse(call, place, error)
        self.server.start_again()
        self.server.arm()
        for number in range(CALLS):
            self.call()
            if number == 1:
                # A commit that is not a charge is written to the tables at once.
                self.command("accounts", "credit", "one", str(SMALL_CREDIT))
        has_stopped = self.server.process.poll() is not None
        self.server.kill()
        self.server.settings = {}
        self.server.start_again()
        self.check()
        return has_stopped

    def test_an_error_at_any_place_of_a_backup_leaves_no_backup_and_harms_nothing(self):
        refused = 0
        for call, error in FAULTS + [("truncate", errno.EIO)]:
            for place in range(1, PLACES + 1):
                self.server.halt()
                self.server.refuse(call, place, error)
                self.server.start_again()
                target = os.path.join(self.server.data, f"backup-{call}-{error}-{place}")
                self.server.arm()
                told = self.command("backup", target)
                refused += told.returncode != 0
                # The response may be lost with the process; an existing file is complete.
                if os.path.exists(target):
                    self.check_backup(target)
                self.server.kill()
                self.server.settings = {}
                self.server.start_again()
                self.check()
        self.assertGreater(refused, 0, "no fault was ever met")
        print(f"{refused} backups refused, and none half made")

    def check_backup(self, target):
        place = os.path.join(self.server.folder, "restored")
        subprocess.run(["rm", "-rf", place], check=True)
        line = [self.server.binary, "restore", target, "--data-dir", place]
        line += ["--config", os.path.join(self.server.folder, "tollgate.toml")]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE")}
        told = subprocess.run(line, capture_output=True, text=True, env=environment)
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        self.assertIn("every balance is right", told.stdout)

    def check(self):
        spent = CREDIT - self.balance()
        least = self.acknowledged * CALL_COST
        most = (self.acknowledged + self.unknown) * CALL_COST
        # Credits between the calls, each of which may have been applied.
        self.assertGreaterEqual(spent, least - len(FAULTS) * PLACES * SMALL_CREDIT)
        self.assertLessEqual(spent, most)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))

    def command(self, *arguments):
        """Runs a command, which may fail."""
        line = [self.server.binary, *arguments, *self.server._place()]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE")}
        return subprocess.run(line, capture_output=True, text=True, env=environment, timeout=60)

    def call(self):
        body = b'{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
        request = urllib.request.Request(f"{self.server.api}/crypto/rpc/base-mainnet", body, self.headers())
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                self.assertEqual(answer.status, 200)
                self.acknowledged += 1
        except urllib.error.HTTPError as refused:
            self.assertEqual(refused.code, 503)
            self.unknown += 1
        except OSError:
            self.unknown += 1

    def balance(self):
        request = urllib.request.Request(f"{self.server.api}/billing/balance", headers=self.headers())
        with urllib.request.urlopen(request, timeout=30) as answer:
            return decimal.Decimal(json.loads(answer.read(), parse_float=decimal.Decimal)["balances"]["usd"])

    def headers(self):
        return {"authorization": f"Bearer {self.key}", "content-type": "application/json"}


if __name__ == "__main__":
    unittest.main()
