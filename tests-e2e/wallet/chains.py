"""Local chains for tests: anvil as Base with a token at USDC's address, LiteSVM as Solana, and the reference facilitator."""

import collections
import json
import pathlib
import re
import subprocess
import sys
import threading
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
CONTRACT_WALLET = "0x5aFE00000000000000000000000000000000cAFE"
ANSWER_SECONDS_MAX = 30


class Node:
    """A client of a JSON-RPC node."""

    url = None

    def call(self, method, *params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.url, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS_MAX) as response:
            answer = json.load(response)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer.get("result")


class Program:
    """A program that ends with the test."""

    def __init__(self, line):
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)

    def first_line(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"{self.process.args} ended before it was ready")
        return line

    def ignore_the_rest(self):
        """Discards the output, so that a program which logs every request is not blocked by a full pipe."""
        self.reader = threading.Thread(target=collections.deque, args=(self.process.stdout, 0), daemon=True)
        self.reader.start()

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()


class Evm(Node):
    """Anvil with the chain id of Base. Its first account is the relayer, the second the facilitator's."""

    def __init__(self):
        self.program = Program([str(HERE / "node_modules/.bin/anvil"), "--port", "0", "--chain-id", "8453"])
        address = None
        while address is None:
            found = re.search(r"Listening on (\S+)", self.program.first_line())
            address = found and found.group(1)
        self.program.ignore_the_rest()
        self.url = f"http://{address}"
        code = json.loads(subprocess.check_output(["node", str(HERE / "compile.mjs")]))
        self.accounts = self.call("eth_accounts")
        self.call("anvil_setCode", USDC, code["token"])
        self.call("anvil_setCode", CONTRACT_WALLET, code["wallet"])

    def stop(self):
        self.program.stop()

    def mint(self, account, units):
        self._send(USDC, "0x40c10f19" + word(account) + word(units))

    def block(self, account, is_blocked):
        self._send(USDC, "0xd01dd6d2" + word(account) + word(int(is_blocked)))

    def own_contract_wallet(self, owner):
        self._send(CONTRACT_WALLET, "0x19ab453c" + word(owner))

    def tokens(self, account):
        call = {"to": USDC, "data": "0x70a08231" + word(account)}
        return int(self.call("eth_call", call, "latest"), 16)

    def now(self):
        return int(self.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)

    def _send(self, to, data):
        # The last account is not used elsewhere, so its nonces do not conflict.
        self.call("eth_sendTransaction", {"from": self.accounts[9], "to": to, "data": data})


class Solana(Node):
    def __init__(self):
        self.program = Program([sys.executable, str(HERE / "solana_node.py")])
        self.url = f"http://127.0.0.1:{json.loads(self.program.first_line())['port']}"
        self.program.ignore_the_rest()

    def stop(self):
        self.program.stop()


class Facilitator:
    """The reference facilitator, with its own fee payer."""

    def __init__(self, evm_url, solana):
        self.program = Program(["node", str(HERE / "facilitator.mjs"), evm_url, solana.url])
        ready = json.loads(self.program.first_line())
        self.program.ignore_the_rest()
        self.url, self.fee_payer = f"http://127.0.0.1:{ready['port']}", ready["feePayer"]
        solana.call("test_airdrop", self.fee_payer, 10_000_000_000)

    def stop(self):
        self.program.stop()


def word(value):
    """ABI-encodes an address or a number."""
    digits = value[2:].lower() if isinstance(value, str) else f"{value:x}"
    return digits.rjust(64, "0")
