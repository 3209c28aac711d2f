"""The service with a scripted upstream, its OpenAPI document on disk, and a folder for a client."""

import pathlib
import subprocess
import tempfile
import urllib.request

from chat.service import ServiceCase

GENERATE_SECONDS_MAX = 240
REQUEST_SECONDS_MAX = 30


class GeneratedCase(ServiceCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.document = cls.folder / "openapi.json"
        with urllib.request.urlopen(f"{cls.server.api}/openapi.json", timeout=REQUEST_SECONDS_MAX) as answer:
            cls.document.write_bytes(answer.read())

    @classmethod
    def run_tool(cls, *line):
        """Runs a generator and returns its output."""
        run = subprocess.run(
            [str(part) for part in line],
            capture_output=True,
            text=True,
            timeout=GENERATE_SECONDS_MAX,
            cwd=cls.folder,
        )
        if run.returncode != 0:
            raise AssertionError(f"{line[0]} ended with {run.returncode}: {run.stdout[-4000:]}{run.stderr[-4000:]}")
        return run.stdout + run.stderr
