"""Starts a Postgres server in a temporary folder, on a free port."""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile

ANSWER_SECONDS_MAX = 60


class Postgres:
    """Use it in a `with` statement so that it always ends."""

    def __enter__(self):
        # The package's own service is not used; root may not run the server.
        servers = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.programs = servers[-1]
        self.user = "postgres" if os.getuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="tollgate-postgres-")
        if self.user:
            shutil.chown(self.folder, self.user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.data = os.path.join(self.folder, "data")
        name = self.user or pwd.getpwuid(os.getuid()).pw_name
        self._run("initdb", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", "-D", self.data)
        self.start()
        self.databases = 0
        self.address = f"postgres://{name}@127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_):
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_connections=200"
        log = os.path.join(self.folder, "log")
        self._run("pg_ctl", "-D", self.data, "-w", "-l", log, "-o", options, "start")

    def stop(self, how="fast"):
        """`fast` ends sessions in an orderly way, `immediate` like a power cut."""
        self._run("pg_ctl", "-D", self.data, "-w", "-m", how, "stop", check=False)

    def database(self):
        """Creates an empty database and returns its URL."""
        self.databases += 1
        name = f"tollgate_{self.databases}"
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), name)
        return f"{self.address}/{name}"

    def cut_connections(self, url):
        """Ends all sessions of a database, like a failing proxy."""
        self.execute(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )

    def execute(self, url, sql):
        """Runs a statement in a database."""
        name = url.rsplit("/", 1)[1]
        self._run("psql", "-h", "127.0.0.1", "-p", str(self.port), "-d", name, "-v", "ON_ERROR_STOP=1", "-c", sql)

    def _run(self, program, *arguments, check=True):
        line = [os.path.join(self.programs, program), *arguments]
        if self.user:
            line = ["runuser", "-u", self.user, "--", *line]
        # The server inherits the descriptors, so a pipe would never close.
        subprocess.run(
            line,
            check=check,
            timeout=ANSWER_SECONDS_MAX,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
