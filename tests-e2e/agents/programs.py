"""Runs agents in a home folder of their own, without the settings of the machine's user."""

import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
PACKAGES = HERE / "node_modules"
ARCHITECTURE = "arm64" if platform.machine() == "aarch64" else "x64-baseline"
CLAUDE = PACKAGES / ".bin" / "claude"
CODEX = PACKAGES / ".bin" / "codex"
OPENCODE = PACKAGES / f"opencode-linux-{ARCHITECTURE}" / "bin" / "opencode"
RUN_SECONDS_MAX = 180
# The lines that `tollgate agents`, the console and docs/agents.md show.
SET_UPS = {it["id"]: it for it in json.loads((HERE.parents[1] / "docs/agents.json").read_text(encoding="utf-8"))}
# How an agent starts the MCP server of the tests.
MCP_COMMAND, MCP_ARGUMENTS = sys.executable, [str(HERE / "mcp_server.py")]


class AgentHome:
    """A home and a project folder, and the environment of an agent that works there."""

    def __init__(self, folder, proxy_url):
        self.home, self.project = pathlib.Path(folder, "home"), pathlib.Path(folder, "project")
        self.home.mkdir()
        self.project.mkdir()
        self.exports = ""
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            self.environment[name] = proxy_url

    def set_up(self, agent, site, key, model):
        """Does what the documentation says for an agent: writes its files and keeps its exports for `run`."""
        for step in SET_UPS[agent]["steps"]:
            is_shell = step["into"] == "shell"
            # The last line in the shell starts the agent, which a test does with arguments of its own.
            text = "".join(f"{line}\n" for line in (step["lines"][:-1] if is_shell else step["lines"]))
            text = text.replace("%SITE%", site).replace("%KEY%", key).replace("%MODEL%", model)
            if is_shell:
                self.exports = text
            else:
                self.write(step["into"].removeprefix("~/"), text)

    def run(self, program, *arguments, **environment):
        """Runs an agent in the project folder; its output is in the result, whatever its exit status."""
        if not program.exists():
            raise AssertionError(f"{program} is missing: remove {PACKAGES} and run scripts/test.sh, which installs it")
        line = ["bash", "-c", f'set -eu\n{self.exports}exec "$@"', "agent", program, *arguments]
        try:
            return subprocess.run(
                line,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=RUN_SECONDS_MAX,
                cwd=self.project,
                env={**self.environment, **environment},
            )
        except subprocess.TimeoutExpired as ended:
            said = [(it or b"").decode(errors="replace") for it in (ended.stdout, ended.stderr)]
            return subprocess.CompletedProcess(line, 124, *said)

    def write(self, path, text):
        """Writes a file below the home folder."""
        place = self.home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def read(self, path):
        return (self.home / path).read_text(encoding="utf-8")
