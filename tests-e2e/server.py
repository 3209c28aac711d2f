"""Starts the built binary on free ports, with a temporary data directory."""

import json
import os
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 15
# A small model may generate until its context is full.
COMMAND_SECONDS_MAX = 300


class Server:
    """Runs `tollgate serve`; use it in a `with` statement so that it always ends."""

    # The listen address: a free port, different at each start.
    listen = "127.0.0.1:0"

    def __init__(self, binary=None, config=""):
        self.binary = binary or os.environ["TOLLGATE"]
        self.config = config
        self.output = []

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="tollgate-e2e-")
        try:
            if os.environ.get("E2E_NODES") == "2" and "[store]" not in self.config:
                self._start_two()
            else:
                self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start_two(self):
        """Starts two nodes: commands use this one and clients the other, so that requests for accounts whose
        home is here pass through the other node. For tests that kill nothing."""
        import cluster

        mine, others = cluster.configs(self.config)
        self.config = mine
        self._start()
        self.door = Server(self.binary, others)
        self.door.__enter__()
        self.url, self.api = self.door.url, self.door.api

    def __exit__(self, *_):
        if getattr(self, "door", None) is not None:
            self.door.__exit__()
        if getattr(self, "process", None) is not None:
            self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        """Stops the service with a signal, like a supervisor, and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS_MAX)

    def kill(self):
        """Kills the service at once."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def start_again(self):
        """Starts the service again on the existing data."""
        self.process.stdout.close()
        self.log.close()
        self._start()

    def command(self, *arguments):
        """Runs another `tollgate` command against this service and returns its output."""
        line = [self.binary, *arguments, *self._place()]
        run = subprocess.run(line, capture_output=True, text=True, timeout=COMMAND_SECONDS_MAX, env=self._environment())
        if run.returncode != 0:
            raise AssertionError(f"{line} ended with {run.returncode}: {run.stdout}{run.stderr}")
        return run.stdout

    def configure(self, config):
        """Writes another configuration, which the service reads on a reload."""
        self.config = config
        with open(os.path.join(self.folder, "tollgate.toml"), "w", encoding="utf-8") as file:
            file.write(config)

    def metric(self, name):
        """The value of a metric, given with its labels; None if it does not exist."""
        with urllib.request.urlopen(f"{self._admin()}/metrics", timeout=COMMAND_SECONDS_MAX) as answer:
            found = re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.MULTILINE)
        return found and float(found.group(1))

    def _admin(self):
        """The URL of health and metrics, from the log. Log lines are buffered briefly, so it may come late."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
                found = re.search(r"health and metrics on (http://[0-9.:]+)", log.read())
            if found:
                return found.group(1)
            if deadline < time.monotonic():
                raise AssertionError(f"no address of metrics in {START_SECONDS_MAX} s: {self.tail()}")
            time.sleep(0.01)

    def create_account(self, name):
        self.command("accounts", "create", name)

    def create_key(self, kind, account="default"):
        arguments = ["keys", "create", "--type", kind, "--account", account, "--json"]
        return json.loads(self.command(*arguments))["apiKey"]

    def create_operator_key(self):
        return json.loads(self.command("operator", "keys", "create", "--json"))["apiKey"]

    def _start(self):
        self.configure(self.config)
        line = [self.binary, "serve", "--listen", self.listen, "--admin-listen", "127.0.0.1:0"]
        self.log = open(os.path.join(self.folder, "log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            line + self._place(),
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=self._environment(),
        )
        self.url = self._wait_for_address()
        self.api = f"{self.url}/api/v1"

    def _place(self):
        data = os.path.join(self.folder, "data")
        return ["--data-dir", data, "--config", os.path.join(self.folder, "tollgate.toml")]

    def _environment(self):
        """An environment without the user's own settings for the service."""
        return {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE")}

    def _wait_for_address(self):
        lines = queue.Queue()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no address in {START_SECONDS_MAX} s: {self.tail()}") from None
            if line is None:
                raise AssertionError(f"the service ended before it listened: {self.tail()}")
            found = re.search(r"listening on (http://\S+)", line)
            if found:
                return found.group(1).rstrip("/")

    def _read(self, lines):
        for line in self.process.stdout:
            self.output.append(line)
            lines.put(line)
        lines.put(None)

    def _end(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def tail(self):
        """The end of the service's log, for the message of a failed test."""
        self.log.flush()
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return "".join(self.output) + file.read()[-4000:]
