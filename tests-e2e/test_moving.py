"""Tests moving a service from SQLite to Postgres and back, with the same keys, balances and history."""

import json
import os
import unittest

import test_crashes
from postgres import Postgres
from server import Server

CHAT = json.dumps({"model": "small", "messages": [{"role": "user", "content": "count"}]})
CHATS = 3


def setUpModule():
    global POSTGRES
    POSTGRES = unittest.enterModuleContext(Postgres())


class Moved(test_crashes.Books, unittest.TestCase):
    def setUp(self):
        self.open(Server)
        self.engines = self.server.config
        self.keys = self.keys[:4]
        for _ in range(CHATS):
            for key in self.keys:
                self.chat(key)

    def test_a_service_goes_on_with_the_same_books_on_postgres_and_on_sqlite_again(self):
        before, charged = self.told(), self.check_books()
        self.assertEqual(len(charged), CHATS * len(self.keys))
        exported = self.file("export")
        refused = self.refused("export", exported)
        self.assertIn("a service is running on this data directory", refused)
        self.assertFalse(os.path.exists(exported))
        self.assertEqual(self.server.stop(), 0)
        self.server.command("export", exported)
        self.assertEqual(os.stat(exported).st_mode & 0o777, 0o600)
        self.assertIn("already exists", self.refused("export", exported))

        self.move(f'[store]\nurl = "{POSTGRES.database()}"\n', exported, before)
        self.assertIn("is not empty", self.refused_while_stopped("import", exported))

        again = self.file("again")
        self.assertEqual(self.server.stop(), 0)
        self.server.command("export", again)
        self.move('[store]\nurl = "sqlite:back.db"\n', again, self.told_last)
        self.assertIn("is there already", self.refused_while_stopped("import", again))

    def test_a_file_that_is_damaged_changes_nothing(self):
        exported = self.file("export")
        self.assertEqual(self.server.stop(), 0)
        self.server.command("export", exported)
        with open(exported, "rb") as file:
            whole = file.read()
        damaged = self.file("damaged")
        self.server.configure(f'{self.engines}\n[store]\nurl = "{POSTGRES.database()}"\n')
        changed = whole.replace(b'"caller-1"', b'"caller-X"', 1)
        for bytes_, words in (
            (whole[: len(whole) // 2], "cut off"),
            (changed, "the file was changed"),
            (b"x\n", "no file"),
        ):
            with open(damaged, "wb") as file:
                file.write(bytes_)
            self.assertIn(words, self.refused("import", damaged))
        # The failed import left the database empty.
        self.server.command("import", exported)
        self.server.start_again()
        self.check_books()

    def test_what_would_be_migrated_is_shown_before_it_is(self):
        self.assertIn("nothing to do", self.server.command("migrate"))
        self.assertEqual(self.server.stop(), 0)
        self.server.configure(f'{self.engines}\n[store]\nurl = "{POSTGRES.database()}"\n')
        shown = json.loads(self.server.command("migrate", "--dry-run", "--json"))
        self.assertEqual((shown["version"], shown["applied"]), (0, False))
        steps = [step["version"] for step in shown["steps"]]
        self.assertEqual(steps, list(range(1, shown["known"] + 1)))
        self.assertIn("applied", self.server.command("migrate"))
        self.server.start_again()
        shown = json.loads(self.server.command("migrate", "--json"))
        self.assertEqual((shown["version"], shown["steps"]), (shown["known"], []))
        self.assertEqual([node["known"] for node in shown["nodes"]], [shown["known"]])

    def move(self, store, exported, before):
        """Imports an export into another store and starts the service on it."""
        self.server.configure(f"{self.engines}\n{store}")
        self.server.command("import", exported)
        self.assertIn("every balance is right", self.server.command("ledger", "verify"))
        self.server.start_again()
        self.assertEqual(self.told(), before)
        charged = len(self.check_books())
        for key in self.keys:
            self.chat(key)
        self.assertEqual(len(self.check_books()), charged + len(self.keys))
        self.told_last = self.told()

    def told(self):
        """The data that callers and the operator see."""
        callers = [[self.get(key, path) for path in ("/billing/balance", "/api_keys")] for key in self.keys]
        for _, keys in callers:
            for key in keys["data"]:
                key.pop("lastUsedAt", None)
        history = [list(self.history(key)) for key in self.keys]
        accounts = json.loads(self.server.command("accounts", "list", "--json"))
        return callers, history, accounts, self.server.command("ledger", "export")

    def chat(self, key):
        answer, text = test_crashes.send(self.server.api, key, "POST", "/chat/completions", CHAT)
        self.assertEqual(answer.status, 200, text)

    def refused(self, *command):
        with self.assertRaises(AssertionError) as refused:
            self.server.command(*command)
        return str(refused.exception)

    def refused_while_stopped(self, *command):
        self.assertEqual(self.server.stop(), 0)
        refused = self.refused(*command)
        self.server.start_again()
        return refused

    def file(self, name):
        return os.path.join(self.server.folder, name)


if __name__ == "__main__":
    unittest.main()
