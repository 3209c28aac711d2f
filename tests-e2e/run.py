"""Runs the test modules beside each other, each in a process of its own, and prints each one's output when it ends.

Modules that compute run one for each core. Most of the others wait for leases, timeouts and blocks to run out, so one
more than there are cores runs beside those that compute. Modules of `engine` use all cores, and run one after another.

Usage: run.py [FOLDER]. Default: all modules except those of `engine`, which need more than the gateway. The variable
TOLLGATE has the path of the program.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
NOT_BY_DEFAULT = ("engine",)
INSTALLED = ("node_modules", ".venv")
# Folders with a Python environment of their own. Their modules run in them, and their `run.py` is a test as well.
OWN_ENVIRONMENT = ("wallet/clients", "wallet", "rpc")
# Browsers, agents, generators of clients and of requests: prefixes of the modules that keep a core busy.
COMPUTES = (
    "agents.",
    "audio.",
    "chat.",
    "console.",
    "engine.",
    "generated.",
    "images.",
    "test_document",
    "test_history",
    "wallet.clients",
    "wallet.test_console",
)
# The longest ones are started first, so that none of them is left for the end.
LONGEST = (
    "test_cluster_faults",
    "test_document",
    "console.test_console",
    "test_cluster",
    "agents.test_opencode",
    "wallet.test_stuck",
    "console.test_playground",
    "test_shared_limits",
    "faults.test_io_errors",
    "agents.test_claude_code",
    "test_queue",
    "wallet.test_base",
    "wallet.test_kill",
    "test_postgres",
    "test_crashes",
    "test_history",
    "test_moving",
    "wallet.clients.run",
)


@dataclasses.dataclass(frozen=True)
class TestModule:
    """A module, or a program, with the line that runs it, and its folder if it has to be run there."""

    name: str
    line: list[str]
    folder: pathlib.Path | None = None


def find_modules(folder):
    """The test modules in a folder, or all that run by default, the longest first."""
    found = [*(HERE / folder).rglob("test_*.py"), *(HERE / folder).rglob("run.py")]
    paths = sorted(path.relative_to(HERE) for path in found if path != HERE / "run.py")
    chosen = [path for path in paths if not set(INSTALLED) & set(path.parts)]
    modules = [to_module(path) for path in chosen if folder or path.parts[0] not in NOT_BY_DEFAULT]
    return sorted(modules, key=lambda it: LONGEST.index(it.name) if it.name in LONGEST else len(LONGEST))


def to_module(path):
    """The module of a path in this folder."""
    name = ".".join(path.with_suffix("").parts)
    own = next((HERE / it for it in OWN_ENVIRONMENT if path.is_relative_to(it)), None)
    if own is None:
        return TestModule(name, [sys.executable, "-m", "unittest", "--verbose", name])
    python = str(own / ".venv/bin/python")
    if path.name == "run.py":
        return TestModule(name, [python, "run.py"], own)
    return TestModule(name, [python, "-m", "unittest", "--verbose", path.stem], own)


def run_module(module):
    """Runs one module; returns its name, exit status, output and seconds."""
    begun = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    if "TOLLGATE" in environment:
        environment["TOLLGATE"] = os.path.abspath(environment["TOLLGATE"])
    done = subprocess.run(
        module.line,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        cwd=module.folder,
    )
    return module.name, done.returncode, done.stdout, time.monotonic() - begun


def main():
    folder = sys.argv[1] if 1 < len(sys.argv) else ""
    modules = find_modules(folder)
    if not modules:
        sys.exit(f"there are no test modules in {folder!r}")
    cores = os.cpu_count() or 1
    computing = concurrent.futures.ThreadPoolExecutor(1 if folder == "engine" else cores)
    waiting = concurrent.futures.ThreadPoolExecutor(cores + 1)
    failed = []
    with computing, waiting:
        runs = [(computing if it.name.startswith(COMPUTES) else waiting).submit(run_module, it) for it in modules]
        for ended in concurrent.futures.as_completed(runs):
            name, status, output, seconds = ended.result()
            print(f"{output}== {name}: {'ok' if status == 0 else 'FAILED'} after {seconds:.0f} s", flush=True)
            if status != 0:
                failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
