"""Our engine against llama.cpp's own server: the same file, the same threads, in turns.

Needs the package xllamacpp, which has that server inside. Prints Markdown:

    python compare.py --tollgate target/release/tollgate --models DIR --threads 2 --rounds 5
"""

import argparse
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

MODEL = "smollm2-135m"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WORDS = "river stone garden winter letter music bridge candle forest window".split()
START_S = 120
THEIRS = """
import sys, threading, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, threads = sys.argv[1], int(sys.argv[2])
params.n_ctx, params.n_parallel = 8192, 4
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("engine", timeout=600)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Ours:
    name = "tollgate engine"

    def __init__(self, options, folder):
        self.socket = str(folder / "engine.sock")
        command = [options.tollgate, "engine", "--socket", self.socket, "--models-dir", options.models]
        command += ["--threads", str(options.threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        begun = time.monotonic()
        while not os.path.exists(self.socket):
            if START_S < time.monotonic() - begun or self.process.poll() is not None:
                sys.exit("our engine did not start")
            time.sleep(0.05)

    def connection(self):
        return UnixConnection(self.socket)


class Theirs:
    name = "llama.cpp's server"

    def __init__(self, options, folder):
        command = [sys.executable, "-c", THEIRS, str(Path(options.models) / MODEL / FILE)]
        self.process = subprocess.Popen(
            command + [str(options.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.address = self.process.stdout.readline().strip().removeprefix("http://")

    def connection(self):
        return http.client.HTTPConnection(self.address, timeout=600)


def cpu_s(process):
    """Of the whole process, from the kernel's books."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def prompt(random_source, words):
    """Begins differently every time, so that no cache helps."""
    return " ".join(random_source.choice(WORDS) for _ in range(words))


def stream(server, text, tokens):
    """Times of the first and the last token, and the usage."""
    body = {
        "model": MODEL,
        "prompt": text,
        "max_tokens": tokens,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "cache_prompt": False,
    }
    connection = server.connection()
    begun = time.monotonic()
    connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        sys.exit(f"{server.name}: {response.status} {response.read()!r}")
    first = last = None
    usage = {}
    for line in response:
        if not line.startswith(b"data: {"):
            continue
        event = json.loads(line[6:])
        usage = event.get("usage") or usage
        if any(choice.get("text") for choice in event.get("choices", [])):
            last = time.monotonic()
            first = first or last
    connection.close()
    return {
        "prompt_s": first - begun,
        "write_s": last - first,
        "prompt_tokens": usage["prompt_tokens"],
        "tokens": usage["completion_tokens"],
    }


def alone(server, random_source):
    cpu = cpu_s(server.process)
    answer = stream(server, prompt(random_source, 500), 128)
    cpu = cpu_s(server.process) - cpu
    return {
        "prompt tokens/s": answer["prompt_tokens"] / answer["prompt_s"],
        "written tokens/s": (answer["tokens"] - 1) / answer["write_s"],
        "tokens/CPU s": (answer["prompt_tokens"] + answer["tokens"]) / cpu,
    }


def together(server, random_source):
    answers = []
    texts = [prompt(random_source, 125) for _ in range(4)]

    def run(text):
        answers.append(stream(server, text, 64))

    threads = [threading.Thread(target=run, args=(text,)) for text in texts]
    cpu, begun = cpu_s(server.process), time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall, cpu = time.monotonic() - begun, cpu_s(server.process) - cpu
    read, written = (sum(answer[name] for answer in answers) for name in ("prompt_tokens", "tokens"))
    return {
        "4 at once: written tokens/s": written / wall,
        "4 at once: tokens/CPU s": (read + written) / cpu,
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tollgate", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        servers = [Ours(options, Path(folder)), Theirs(options, Path(folder))]
        try:
            for server in servers:
                stream(server, "warm up", 4)
            for round_number in range(options.rounds):
                for server in servers:
                    source = random.Random(round_number)
                    for name, figure in (alone(server, source) | together(server, source)).items():
                        figures.setdefault(name, {}).setdefault(server.name, []).append(figure)
        finally:
            for server in servers:
                server.process.kill()
    print(f"| {options.threads} threads, median of {options.rounds} | ours | llama.cpp's | ratio |")
    print("|---|--:|--:|--:|")
    for name, by_server in figures.items():
        ours, theirs = (statistics.median(by_server[it.name]) for it in (Ours, Theirs))
        print(f"| {name} | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
