"""A Redis of the test's own, or a Valkey: a server in memory, on a free port that stays the same."""

import shutil
import socket
import subprocess
import tempfile
import time

START_SECONDS_MAX = 10


class Redis:
    """Use it in a `with` statement so that it always ends."""

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = tempfile.mkdtemp(prefix="tollgate-redis-")
        self.url = f"redis://127.0.0.1:{self.port}"
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        program = shutil.which("valkey-server") or shutil.which("redis-server") or "/usr/bin/redis-server"
        line = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder]
        line += ["--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(line, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                if deadline < time.monotonic():
                    raise
                time.sleep(0.05)

    def kill(self):
        """As a power cut would: what it knew is gone."""
        self.process.kill()
        self.process.wait()
