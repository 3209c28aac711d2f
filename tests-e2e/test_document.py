"""Tests the OpenAPI document with schemathesis: no response may be a 5xx or differ from the document."""

import os
import pathlib
import subprocess
import sys
import unittest

from catalogue import CONFIG
from server import Server

HERE = pathlib.Path(__file__).parent
CHECKS = ",".join(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "negative_data_rejection",
        "unsupported_method",
    ]
)
EXAMPLES_MAX = 25
ACCOUNTS = 50
RUN_SECONDS_MAX = 1500
FOR_A_TESTER = """
[server]
trusted_proxies = ["127.0.0.1"]

[limits]
block_failures = false

# Nothing listens there: what no wallet signed is refused before a chain is asked.
[x402]
pay_to_evm = "0x1111111111111111111111111111111111111111"
evm_rpc_url = "http://127.0.0.1:9"
evm_relayer_key = "0x0000000000000000000000000000000000000000000000000000000000000001"
settle = "direct"
"""


class Document(unittest.TestCase):
    def test_no_reply_is_a_server_error_or_differs_from_the_document(self):
        with Server(config=FOR_A_TESTER + CONFIG) as server:
            run = self.run_schemathesis(server, ",".join(self.create_keys(server)))
            self.assertIsNone(server.process.poll(), server.tail())
        # Long requests would hide the error message.
        told = "\n".join(line[:400] for line in run.stdout.splitlines())
        self.assertEqual(run.returncode, 0, told[-20000:] + run.stderr[-4000:])

    def create_keys(self, server):
        """One key in each of many accounts, because some limits count by account."""
        for number in range(ACCOUNTS):
            server.create_account(f"tester-{number}")
            yield server.create_key("admin", account=f"tester-{number}")

    def run_schemathesis(self, server, keys):
        tool = pathlib.Path(sys.executable).with_name("schemathesis")
        line = [tool, "--config-file", HERE / "schemathesis.toml", "run", f"{server.api}/openapi.json"]
        line += ["--checks", CHECKS, "--max-examples", str(EXAMPLES_MAX), "--seed", "1"]
        line += ["--generation-database", "none", "--no-color"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(HERE),
            "SCHEMATHESIS_HOOKS": "rotate",
            "TOLLGATE_E2E_KEYS": keys,
        }
        return subprocess.run(
            line,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS_MAX,
            cwd=server.folder,
            env=environment,
        )


if __name__ == "__main__":
    unittest.main()
