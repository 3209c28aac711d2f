"""Runs the test modules beside each other, each in a process of its own, and prints each one's output when it ends.

Many tests wait for leases and timeouts to run out, so more modules run at once than there are cores. Those of `engine`
compute, and run one after another.

Usage: run.py [FOLDER]. Default: all modules except those of `engine` and `wallet`, which need more than the gateway.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
NOT_BY_DEFAULT = ("engine", "wallet", "rpc", "node_modules", ".venv")
# The longest ones are started first, so that none of them is left for the end.
LONGEST = (
    "test_cluster_faults",
    "test_document",
    "console.test_console",
    "test_cluster",
    "test_shared_limits",
    "agents.test_opencode",
    "test_postgres",
    "agents.test_claude_code",
    "test_crashes",
    "test_moving",
    "test_queue",
    "console.test_playground",
)


def find_modules(folder):
    """The dotted names of the test modules in a folder, or of all that run by default."""
    paths = sorted((HERE / folder).rglob("test_*.py") if folder else HERE.rglob("test_*.py"))
    inner = (path.relative_to(HERE).with_suffix("") for path in paths)
    chosen = [path for path in inner if folder or path.parts[0] not in NOT_BY_DEFAULT]
    names = [".".join(path.parts) for path in chosen if "node_modules" not in path.parts]
    return sorted(names, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))


def run_module(name):
    """Runs one module; returns its name, exit status, output and seconds."""
    begun = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    line = [sys.executable, "-m", "unittest", "--verbose", name]
    done = subprocess.run(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment
    )
    return name, done.returncode, done.stdout, time.monotonic() - begun


def main():
    folder = sys.argv[1] if 1 < len(sys.argv) else ""
    names = find_modules(folder)
    at_once = 1 if folder == "engine" else (os.cpu_count() or 1) + 1
    if not names:
        sys.exit(f"there are no test modules in {folder!r}")
    failed = []
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for ended in concurrent.futures.as_completed([pool.submit(run_module, name) for name in names]):
            name, status, output, seconds = ended.result()
            print(f"{output}== {name}: {'ok' if status == 0 else 'FAILED'} after {seconds:.0f} s", flush=True)
            if status != 0:
                failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
