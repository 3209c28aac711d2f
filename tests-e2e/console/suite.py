"""Runs a file of browser tests against a service."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def browse(case, server, suite, seconds_max, **environment):
    """On failure, the message has the output of the browser tests and of the service."""
    line = ["node", "--test", "--test-reporter=tap", HERE / suite]
    # Python code shown on pages runs with this interpreter, which has OpenAI's library.
    known = {"CONSOLE_URL": server.url, "PYTHON": sys.executable}
    run = subprocess.run(
        line,
        capture_output=True,
        text=True,
        timeout=seconds_max,
        env={**os.environ, **known, **{name: str(value) for name, value in environment.items()}},
    )
    case.assertEqual(run.returncode, 0, run.stdout + run.stderr + server.tail())
