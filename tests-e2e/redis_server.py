"""Starts a Redis or Valkey server in memory, on a free port that stays the same."""

import os
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
        if getattr(self, "process", None) is not None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        program = shutil.which("valkey-server") or shutil.which("redis-server") or "/usr/bin/redis-server"
        line = [program, *self.listen(), "--bind", "127.0.0.1", "--dir", self.folder]
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

    def listen(self):
        return ["--port", str(self.port)]

    def kill(self):
        """Kills the server, which loses all its data."""
        self.process.kill()
        self.process.wait()


class TlsRedis(Redis):
    """A server with TLS, whose certificate is from a private authority: the file `authority`."""

    def __enter__(self):
        super().__enter__()
        self.url = f"rediss://localhost:{self.port}"
        return self

    def listen(self):
        self.authority, self.key = (os.path.join(self.folder, name) for name in ("cert.pem", "key.pem"))
        if not os.path.exists(self.authority):
            line = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
            line += " -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE"
            line = [*line.split(), "-keyout", self.key, "-out", self.authority]
            subprocess.run(line, check=True, capture_output=True)
        options = {"port": 0, "tls-port": self.port, "tls-cert-file": self.authority, "tls-key-file": self.key}
        options["tls-auth-clients"] = "no"
        return [part for name, value in options.items() for part in (f"--{name}", str(value))]
