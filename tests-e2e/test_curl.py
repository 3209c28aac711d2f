"""Tests of the README's curl commands, and of common mistakes with them."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from catalogue import CONFIG
from server import Server

BODY_BYTES_OVER_THE_CAP = 40 * 1024 * 1024


class Curl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(config=CONFIG))
        cls.admin = cls.server.create_key("admin")

    def curl(self, path, *arguments, key=None):
        """The status and JSON of one call."""
        if key is not None:
            arguments += ("-H", f"Authorization: Bearer {key}")
        line = ["curl", "-sS", "--max-time", "30", "-w", "\n%{http_code}"]
        run = subprocess.run([*line, *arguments, self.server.api + path], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        body, status = run.stdout.rsplit("\n", 1)
        return int(status), json.loads(body)

    def post(self, path, body, key=None):
        headers = ("-H", "Content-Type: application/json")
        return self.curl(path, *headers, "--data-binary", body, key=key)

    def test_the_models_are_public(self):
        status, body = self.curl("/models")
        self.assertEqual((status, body["object"]), (200, "list"))

    def test_a_key_made_over_http_works_at_once_and_stops_when_revoked(self):
        wanted = json.dumps({"apiKeyType": "INFERENCE", "description": "from curl"})
        status, body = self.post("/api_keys", wanted, key=self.admin)
        self.assertEqual(status, 200, body)
        made = body["data"]
        self.assertEqual(self.curl("/api_keys/rate_limits", key=made["apiKey"])[0], 200)
        status, body = self.curl(f"/api_keys?id={made['id']}", "-X", "DELETE", key=self.admin)
        self.assertEqual(status, 200, body)
        self.assertEqual(self.curl("/api_keys/rate_limits", key=made["apiKey"])[0], 401)

    def test_the_balance_is_the_starting_credit(self):
        status, body = self.curl("/billing/balance", key=self.admin)
        self.assertEqual((status, body["balances"]["usd"]), (200, 10))

    def test_no_key_is_told_apart_from_a_wrong_one(self):
        self.assertEqual(self.curl("/api_keys"), (401, {"error": "Authentication required"}))
        self.assertEqual(self.curl("/api_keys", key="SERVICE_ADMIN_KEY_wrong")[0], 401)

    def test_all_mistakes_of_a_body_come_at_once(self):
        status, body = self.post("/api_keys", '{"apiKeyType": "ROOT"}', key=self.admin)
        self.assertEqual((status, body["error"]), (400, "Invalid request parameters"))
        self.assertIn("apiKeyType", body["details"])
        self.assertIn("description", body["details"])

    def test_broken_json_is_said_to_be_broken(self):
        status, body = self.post("/api_keys", '{"apiKeyType"', key=self.admin)
        self.assertEqual((status, body["error"]), (400, "Invalid JSON request"))

    def test_an_unknown_route_answers_in_our_shape(self):
        status, body = self.curl("/nonsense")
        self.assertEqual(status, 404)
        self.assertIsInstance(body["error"], str)

    def test_a_huge_body_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "body.json")
            path.write_text(f'"{"a" * BODY_BYTES_OVER_THE_CAP}"', encoding="utf-8")
            status, body = self.post("/api_keys", f"@{path}", key=self.admin)
        self.assertEqual(status, 413, body)


class Life(unittest.TestCase):
    def test_a_service_that_is_asked_to_end_ends_well(self):
        with Server(config=CONFIG) as server:
            self.assertEqual(server.stop(), 0, server.tail())


if __name__ == "__main__":
    unittest.main()
