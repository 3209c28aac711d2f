"""Runs the conformance suite of the Model Context Protocol and its official SDKs against the service."""

import os
import pathlib
import platform
import subprocess
import tempfile
import unittest

from chat.service import CONFIG, EMBEDDING_INPUTS_MAX, Upstream
from scripted import ScriptedService

HERE = pathlib.Path(__file__).parent
PACKAGES = HERE / "node_modules"
# The suite needs a newer Node than the other tests; npm has it as a package.
NODE = PACKAGES / f"node-linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}" / "bin" / "node"
CONFORMANCE = PACKAGES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
PYTHON = HERE / ".venv" / "bin" / "python"
RUN_SECONDS_MAX = 120


# The suite sends more requests than an address without a key may send in a minute.
LIMITS = '[[tier]]\nid = "default"\ngeneral_requests = 10000\n'


class Mcp(ScriptedService):
    upstream_class = Upstream
    config = CONFIG.replace("{inputs_max}", str(EMBEDDING_INPUTS_MAX)) + LIMITS

    def run_client(self, *line):
        environment = {**os.environ, "MCP_URL": f"{self.server.url}/mcp", "API_KEY": self.key}
        # There this folder hides the package `mcp`.
        environment.pop("PYTHONPATH", None)
        run = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_SECONDS_MAX, env=environment
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr + self.server.tail())

    def test_the_conformance_suite(self):
        with tempfile.TemporaryDirectory(prefix="tollgate-mcp-") as folder:
            url, expected = f"{self.server.url}/mcp", HERE / "expected-failures.yml"
            self.run_client(NODE, CONFORMANCE, "server", "--url", url, "--expected-failures", expected, "-o", folder)

    def test_the_clients_for_node(self):
        before = self.balance()
        self.run_client("node", HERE / "clients.mjs")
        self.assertLess(self.balance(), before)

    def test_the_client_for_python(self):
        before = self.balance()
        self.run_client(PYTHON, HERE / "clients.py")
        self.assertLess(self.balance(), before)


if __name__ == "__main__":
    unittest.main()
