"""Runs the commands and programs of the documentation unchanged on a service with the built-in engine.

A block that cannot run here is marked by an HTML comment on the line before it:
`<!-- not run: REASON -->`. Addresses and keys are replaced by those of the service under test.
"""

import json
import os
import pathlib
import re
import stat
import subprocess
import sys

from engine.service import EngineCase

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"^(<!-- not run: (?P<reason>[^\n]+) -->\n)?```(?P<language>sh|python|js|toml)\n(?P<text>.*?)^```", re.M | re.S
)
BLOCK_SECONDS_MAX = 300
LITELLM = "model_list:\n  - model_name: gpt-4o\n    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY}\n"
REASON_CHARS_MIN = 15
SECRETS = {
    "RELAYER_KEY": "0x" + "11" * 32,
    "BASE_RPC_URL": "http://127.0.0.1:9",
    "SOLANA_RPC_URL": "http://127.0.0.1:9",
    "WEATHER_TOKEN": "a token",
}


class Block:
    def __init__(self, page, found):
        text = page.read_text(encoding="utf-8")
        self.place = f"{page.relative_to(ROOT)}:{text[: found.start('text')].count(chr(10)) + 1}"
        self.page, self.language = page.name, found["language"]
        self.text, self.reason = found["text"], found["reason"]


def blocks(*languages):
    found = [Block(page, it) for page in PAGES for it in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    return [it for it in found if it.language in languages]


def with_values(config):
    """Replaces the placeholders of a configuration."""
    config = config.replace('"0x…"', '"0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"')
    config = config.replace('"https://…"', '"https://facilitator.example"')
    return config.replace('"…"', '"GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse"')


class Documentation(EngineCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.admin = cls.server.create_key("admin")
        cls.folder = pathlib.Path(cls.server.folder, "reader")
        cls.folder.mkdir()
        (cls.folder / "fee-payer.json").write_text(json.dumps([7] * 64), encoding="utf-8")
        (cls.folder / "config.yaml").write_text(LITELLM, encoding="utf-8")
        (cls.folder / "node_modules").symlink_to(ROOT / "tests-e2e" / "node_modules")
        cls._write_command()

    @classmethod
    def _write_command(cls):
        """Writes a `tollgate` command that finds the service of this test by itself."""
        bin_folder = cls.folder / "bin"
        bin_folder.mkdir()
        script = bin_folder / "tollgate"
        place = " ".join(cls.server._place())
        # A data directory in the arguments takes precedence; a page's own files are in the current folder.
        script.write_text(
            f'#!/bin/sh\ncase " $* " in\n*" --data-dir "*|*" config "*|*" convert "*) exec {cls.server.binary} "$@" ;;\n'
            f'*) exec {cls.server.binary} "$@" {place} ;;\nesac\n',
            encoding="utf-8",
        )
        script.chmod(script.stat().st_mode | stat.S_IEXEC)
        cls.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE")},
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "TOLLGATE_KEY": cls.admin,
            "OPENAI_API_KEY": "x",
        }

    def adapted(self, text):
        """Replaces addresses by those of this service, and folders by writable ones."""
        text = text.replace("http://127.0.0.1:8080", self.server.url)
        text = re.sub(r"SERVICE_(ADMIN|INFERENCE)_KEY_…", self.admin, text)
        text = text.replace("CHARGE", self.a_charge() if "CHARGE" in text else "")
        for folder in ("/backup", "/var/lib", "/usr/local/share/man/man1", "/etc/bash_completion.d"):
            place = self.folder / folder.strip("/")
            place.mkdir(parents=True, exist_ok=True)
            text = text.replace(folder, str(place))
        return text

    def a_charge(self):
        """The id of a charge that earlier pages made."""
        journal = self.server.command("ledger", "export").splitlines()
        charge = next(line for line in journal if re.search(r"\bcharge\b", line, re.I))
        return re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", charge).group(0)

    def run_in_folder(self, line, block):
        run = subprocess.run(
            line, capture_output=True, timeout=BLOCK_SECONDS_MAX, cwd=self.folder, env=self.environment
        )
        told = (run.stdout + run.stderr).decode(errors="replace")
        self.assertEqual(run.returncode, 0, f"{block.place}\n{told}{self.server.tail()}")
        return told

    def wait_for_models(self):
        client = self.client()
        self.until_ready(lambda: client.embeddings.create(model="all-minilm-l6-v2", input="ready?"))
        for line in ("smollm2-135m", "moonshine-tiny", "tts-hibari", "tts-kokoro", "cutout-u2net", "erase-migan"):
            self.server.command("models", "pull", line)

    def test_commands_run_as_they_stand(self):
        self.wait_for_models()
        pages = {}
        for block in blocks("sh"):
            if block.reason is None:
                pages.setdefault(block.page, []).append(block)
        self.assertGreater(sum(map(len, pages.values())), 20)
        # README first: it makes the charge that another page refunds.
        for page in sorted(pages, key=lambda it: it != "README.md"):
            # Later blocks of a page use the variables that earlier ones export.
            script, last = "set -euo pipefail\n", pages[page][-1]
            for block in pages[page]:
                text = self.adapted(block.text)
                # An error response fails the test, except where the page shows one.
                text = re.sub(r"\bcurl -s(?=S?\b)(?!.*x402/top-up)", "curl --fail-with-body -s", text)
                text = text.replace("tollgate accounts create acme", "tollgate accounts create acme || true")
                script += f"echo '## {block.place}'\n{text}\n"
            with self.subTest(page=page):
                self.run_in_folder(["bash", "-c", script], last)

    def test_programs_run_as_they_stand(self):
        self.wait_for_models()
        runners = {"python": ([sys.executable], "program.py"), "js": (["node"], "program.mjs")}
        for block in blocks("python", "js"):
            if block.reason is not None:
                continue
            command, name = runners[block.language]
            (self.folder / name).write_text(self.adapted(block.text), encoding="utf-8")
            with self.subTest(place=block.place):
                self.run_in_folder([*command, name], block)

    def test_configurations_are_right_as_they_stand(self):
        for block in blocks("toml"):
            # test_commands.py combines those of engines.md.
            if block.reason is not None or block.page == "engines.md":
                continue
            (self.folder / "tollgate.toml").write_text(with_values(block.text), encoding="utf-8")
            with self.subTest(place=block.place):
                run = subprocess.run(
                    [self.server.binary, "config", "check", "--data-dir", str(self.folder / "data")],
                    capture_output=True,
                    text=True,
                    cwd=self.folder,
                    env={**self.environment, **SECRETS},
                )
                self.assertEqual(run.returncode, 0, f"{block.place}\n{run.stdout}{run.stderr}")
        (self.folder / "tollgate.toml").unlink(missing_ok=True)

    def test_whatever_is_not_run_says_why(self):
        for block in blocks("sh", "python", "js", "toml"):
            if block.reason is not None:
                self.assertGreater(len(block.reason), REASON_CHARS_MIN, block.place)

    def test_there_is_a_call_for_each_endpoint(self):
        document = json.loads((ROOT / "openapi.json").read_text(encoding="utf-8"))
        page = (ROOT / "docs/endpoints.md").read_text(encoding="utf-8")
        for path in document["paths"]:
            # `/models/{id}` is called as `/models/…`.
            pattern = re.escape(path).replace(r"\{", "{").replace(r"\}", "}")
            pattern = re.sub(r"\{[^}]*\}", r"[^/\\s\"`?]+", pattern)
            self.assertRegex(page, rf"(\$API|`[A-Z]+ ){pattern}(?![\w/-])", path)
