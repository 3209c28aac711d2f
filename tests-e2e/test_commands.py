"""Tests of the commands for new users (greeting, init, convert, demo, man) and of the configurations in the docs."""

import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).parent.parent
BINARY = os.path.abspath(os.environ.get("TOLLGATE", "target/debug/gateway"))
SECONDS_MAX = 60
LITELLM = """
model_list:
  - model_name: gpt-4o
    litellm_params: {model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY, input_cost_per_token: 0.0000025, output_cost_per_token: 0.00001}
  - model_name: gpt-4o
    litellm_params: {model: hosted_vllm/llama-3, api_base: "http://127.0.0.1:9/v1"}
router_settings: {routing_strategy: latency-based-routing}
"""


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def run_in_folder(self, *arguments, environment=None):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE")}
        place = ["--data-dir", os.path.join(self.folder, "data")]
        return subprocess.run(
            [BINARY, *arguments, *place],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            cwd=self.folder,
            env={**kept, **(environment or {})},
        )

    def check(self, config, **environment):
        with open(os.path.join(self.folder, "tollgate.toml"), "w", encoding="utf-8") as file:
            file.write(config)
        run = self.run_in_folder("config", "check", environment=environment)
        self.assertEqual(run.returncode, 0, config + run.stdout + run.stderr)

    def test_without_a_command_the_next_step_is_shown(self):
        run = self.run_in_folder()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("tollgate init", run.stdout)

    def test_init_writes_a_file_that_is_right(self):
        run = self.run_in_folder("init")
        self.assertEqual(run.returncode, 0, run.stderr)
        run = self.run_in_folder("config", "check")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        again = self.run_in_folder("init", "--no-look")
        self.assertEqual(again.returncode, 1)
        self.assertIn("--force", again.stderr)

    def test_a_litellm_file_becomes_ours_and_what_is_left_out_is_said(self):
        path = os.path.join(self.folder, "config.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(LITELLM)
        run = self.run_in_folder("convert", "litellm", path)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("router_settings.routing_strategy", run.stderr)
        self.check(run.stdout, OPENAI_API_KEY="x")

    def test_a_model_without_a_price_is_not_converted_unless_it_is_to_be_free(self):
        path = os.path.join(self.folder, "config.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("model_list:\n  - {model_name: mine, litellm_params: {model: ollama/qwen3:4b}}\n")
        run = self.run_in_folder("convert", "litellm", path)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("no price is known for `mine`", run.stderr)
        run = self.run_in_folder("convert", "litellm", path, "--free")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("free: `mine`", run.stderr)
        self.assertIn('base_url = "http://127.0.0.1:11434/v1"', run.stdout)
        self.check(run.stdout)

    def test_the_manual_page_and_the_completions_are_written(self):
        self.assertIn(".TH tollgate", self.run_in_folder("man").stdout)
        self.assertIn("_tollgate", self.run_in_folder("completions", "bash").stdout)

    def test_the_engines_of_the_docs_can_be_written_as_they_stand(self):
        text = (ROOT / "docs/engines.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
        model = next(block for block in blocks if "[[model]]" in block)
        providers = [block for block in blocks if "[[provider]]" in block]
        self.assertGreater(len(providers), 4)
        with open(os.path.join(self.folder, "portraits.json"), "w", encoding="utf-8") as workflow:
            workflow.write('{"1": {"class_type": "SaveImage", "inputs": {"text": "{{prompt}}"}}}')
        for provider in providers:
            name = re.search(r'id = "([^"]+)"', provider).group(1)
            has_model = "[[model]]" in provider
            config = provider if has_model else provider + model.replace('provider = "near"', f'provider = "{name}"')
            self.check(config, OPENAI_API_KEY="x", ANTHROPIC_API_KEY="x", FAL_KEY="x")

    def test_make_run_says_how_its_program_is_called_from_another_terminal(self):
        scripts = pathlib.Path(self.folder) / "scripts"
        scripts.mkdir()
        for name in ["run.sh", "lib.sh"]:
            shutil.copy(ROOT / "scripts" / name, scripts)
        built = pathlib.Path(self.folder) / "built"
        built.mkdir()
        for path, text in [(scripts / "build.sh", f"echo {built}/tollgate"), (built / "tollgate", 'echo "$@"')]:
            path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
            path.chmod(0o755)
        known = {"PIP_INDEX_URL": "unused", "npm_config_registry": "unused"}
        run = subprocess.run(
            [scripts / "run.sh", "--listen", "127.0.0.1:9"],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            env={**os.environ, **known},
        )
        self.assertEqual(run.stdout, "serve --listen 127.0.0.1:9\n", run.stderr)
        export = re.search(r"(export PATH=\S+), then", run.stderr).group(1)
        shell = ["bash", "-c", f"{export}; tollgate keys list"]
        called = subprocess.run(shell, capture_output=True, text=True, timeout=SECONDS_MAX)
        self.assertEqual(called.stdout, "keys list\n", called.stderr)

    def demonstrate(self, data, *arguments):
        """Starts a demo; returns its URL and sign-in link."""
        process = subprocess.Popen(
            [BINARY, "demo", *arguments, "--data-dir", data],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        lines = queue.Queue()
        reader = threading.Thread(target=lambda: [lines.put(it) for it in process.stdout], daemon=True)
        reader.start()
        said = ""
        while "listening on" not in said:
            said += lines.get(timeout=SECONDS_MAX)
        address = re.search(r"listening on (http://[0-9.:]+)", said).group(1)
        link = re.search(r"this link signs in once as the operator: (\S+)", said)
        return address, link and link.group(1)

    def test_a_demonstration_has_books_that_are_right(self):
        data = os.path.join(self.folder, "data")
        self.demonstrate(data)
        place = ["--data-dir", os.path.join(data, "demo")]
        for command, expected in [(["ledger", "verify"], ""), (["accounts", "list"], "globex")]:
            run = subprocess.run([BINARY, *command, *place], capture_output=True, text=True, timeout=SECONDS_MAX)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn(expected, run.stdout)

    def test_a_demonstration_runs_beside_another_one(self):
        first, _ = self.demonstrate(os.path.join(self.folder, "one"))
        second, _ = self.demonstrate(os.path.join(self.folder, "two"))
        self.assertNotEqual(first, second)
        for address in (first, second):
            with urllib.request.urlopen(f"{address}/console/brand", timeout=SECONDS_MAX) as answer:
                self.assertEqual(answer.status, 200)

    def test_a_demonstration_fills_every_page_and_shares_the_weights(self):
        data = os.path.join(self.folder, "data")
        address, link = self.demonstrate(data)
        page = Page(address, link)
        state = {it["state"] for it in page.operate("list_payments", state=None, limit=50)["payments"]}
        self.assertEqual(state, {"CREDITED", "FAILED"})
        providers = page.operate("check_providers")
        self.assertIn("demo", json.dumps(providers))
        self.assertNotIn("failed", {it["verdict"] for it in next(iter(providers.values()))})
        self.assertEqual(len(page.get("/console/jobs")["data"]), 3)
        self.assertTrue(page.get("/console/terms")["accepts"], "a wallet can pay")
        self.assertTrue(page.session["servesRpc"])
        self.assertGreater(page.get("/console/activity?size=0")["total"], 50)
        call = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}
        self.assertIn("result", page.post("/api/v1/crypto/rpc/base-mainnet", call))
        chat = {"model": "demo-large", "messages": [{"role": "user", "content": "Hi"}]}
        answer = page.post("/api/v1/chat/completions", chat)
        self.assertIn("invented", answer["choices"][0]["message"]["content"])
        config = pathlib.Path(data, "demo", "tollgate.toml").read_text(encoding="utf-8")
        self.assertIn(f'models_dir = "{os.path.join(data, "models")}"', config)


class Page:
    """A console session, signed in with a link."""

    def __init__(self, address, link):
        self.address, self.cookie, self.proof = address, "", ""
        self.session = self.post("/console/session", {"link": link.rsplit("/", 1)[1]})
        self.proof = self.session["proof"]

    def get(self, path):
        return self._ask(path, None)

    def post(self, path, body):
        return self._ask(path, json.dumps(body).encode())

    def operate(self, operation, **fields):
        return self.post("/console/operator", {"operation": operation, **fields})

    def _ask(self, path, body):
        headers = {"content-type": "application/json", "cookie": self.cookie, "x-console-proof": self.proof}
        request = urllib.request.Request(self.address + path, body, headers)
        with urllib.request.urlopen(request, timeout=SECONDS_MAX) as answer:
            if answer.headers["set-cookie"]:
                self.cookie = answer.headers["set-cookie"].split(";")[0]
            return json.load(answer)


if __name__ == "__main__":
    unittest.main()
