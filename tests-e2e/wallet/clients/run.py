"""Tests real wallets and x402 clients with a Tollgate on local chains."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

from chains import Evm, Facilitator, Solana  # noqa: E402
from chat.upstream import Upstream  # noqa: E402
from eth_account import Account  # noqa: E402
from server import Server  # noqa: E402
from solders.keypair import Keypair  # noqa: E402

NODE_SECONDS_MAX = 240
# The first of anvil's well-known accounts.
RELAYER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
PAY_TO = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"
FEE_PAYER_SEED = bytes([7]) * 32
DOLLAR = 1_000_000
README_API = "http://127.0.0.1:8080/api/v1"

CONFIG = """
[[provider]]
id = "scripted"
kind = "openai"
base_url = "{upstream}"

[[model]]
id = "small-text"
type = "text"
provider = "scripted"
tier = "XS"
context_tokens = 8192
traits = ["default"]
price = {{ input_usd_per_million = "1.00", output_usd_per_million = "4.00" }}

[rpc.networks.base-mainnet]
urls = ["{evm}"]

[x402]
pay_to_evm = "{pay_to}"
evm_rpc_url = "{evm}"
pay_to_solana = "{pay_to_solana}"
solana_rpc_url = "{solana}"
"""

DIRECT = f"""
settle = "direct"
evm_relayer_key = "{RELAYER_KEY}"
solana_fee_payer_key = "hex:{FEE_PAYER_SEED.hex()}"
"""

FACILITATED = """
settle = "facilitator"
facilitator_url = "{url}"
solana_fee_payer = "{fee_payer}"
"""


class World:
    """Both chains, a service that accepts payments on them, and payers with a hundred dollars each."""

    def __init__(self, is_facilitated):
        self.evm, self.solana = Evm(), Solana()
        self.pay_to_solana = Keypair()
        self.solana.call("test_fund", str(self.pay_to_solana.pubkey()), 0)
        self.upstream = Upstream().__enter__()
        self.facilitator, settle = None, DIRECT
        if is_facilitated:
            self.facilitator = Facilitator(self.evm.url, self.solana)
            settle = FACILITATED.format(url=self.facilitator.url, fee_payer=self.facilitator.fee_payer)
        else:
            fee_payer = Keypair.from_seed(FEE_PAYER_SEED)
            self.solana.call("test_airdrop", str(fee_payer.pubkey()), 10_000_000_000)
        config = CONFIG.format(
            upstream=self.upstream.url,
            evm=self.evm.url,
            pay_to=PAY_TO,
            solana=self.solana.url,
            pay_to_solana=self.pay_to_solana.pubkey(),
        )
        self.server = Server(config=config + settle).__enter__()

    def evm_payer(self):
        payer = Account.create()
        self.evm.mint(payer.address, 100 * DOLLAR)
        return payer

    def solana_payer(self):
        payer = Keypair()
        self.solana.call("test_fund", str(payer.pubkey()), 100 * DOLLAR)
        return payer

    def stop(self):
        self.server.__exit__()
        self.upstream.__exit__(None, None, None)
        if self.facilitator:
            self.facilitator.stop()
        self.solana.stop()
        self.evm.stop()


class InAWorld(unittest.TestCase):
    is_facilitated = False

    @classmethod
    def setUpClass(cls):
        cls.world = World(cls.is_facilitated)
        cls.addClassCleanup(cls.world.stop)

    @classmethod
    def tearDownClass(cls):
        # Fails if the ledger has differences.
        cls.world.server.command("ledger", "verify")

    def run_node(self, script, payer_key, solana_key):
        """Runs a test file with Node's test runner and checks its exit code."""
        world = self.world
        environment = {
            **os.environ,
            "API": world.server.api,
            "EVM_RPC": world.evm.url,
            "SOLANA_RPC": world.solana.url,
            "EVM_KEY": payer_key,
            "SOLANA_KEY": solana_key,
        }
        run = subprocess.run(
            ["node", "--test", str(HERE / script)],
            capture_output=True,
            text=True,
            timeout=NODE_SECONDS_MAX,
            env=environment,
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def node_payers(self):
        evm, solana = self.world.evm_payer(), self.world.solana_payer()
        return "0x" + evm.key.hex().removeprefix("0x"), bytes(solana).hex()

    def received(self):
        receiver = str(self.world.pay_to_solana.pubkey())
        return self.world.evm.tokens(PAY_TO), self.world.solana.call("test_tokens", receiver)

    def pay_with_node(self, payers):
        """The clients of pay.test.mjs pay five dollars on each chain, checked on the chains."""
        before = self.received()
        self.run_node("pay.test.mjs", *payers)
        moved = [now - then for now, then in zip(self.received(), before, strict=True)]
        self.assertEqual(moved, [5 * DOLLAR, 5 * DOLLAR])


class Facilitated(InAWorld):
    """The reference facilitator settles the payments; clients see no difference."""

    is_facilitated = True

    def test_x402_fetch_and_axios_top_up(self):
        self.pay_with_node(self.node_payers())

    def test_pypi_x402_tops_up(self):
        from python_clients import check_top_up

        before, _ = self.received()
        check_top_up(self.world)
        self.assertEqual(self.received()[0] - before, 5 * DOLLAR)


class Clients(InAWorld):
    def test_x402_clients_top_up_and_wallet_libraries_sign_in(self):
        payers = self.node_payers()
        self.pay_with_node(payers)
        self.run_node("sign_in.test.mjs", *payers)

    def test_the_example_of_the_readme_runs_as_it_is_printed(self):
        readme = (HERE.parents[2] / "README.md").read_text(encoding="utf-8")
        example = re.search(r"```js\n(.*?)```", readme, re.DOTALL).group(1)
        self.assertIn(README_API, example)
        key, _ = self.node_payers()
        # In the folder of the packages that it imports.
        with tempfile.NamedTemporaryFile("w", dir=HERE, suffix=".mjs", encoding="utf-8") as file:
            file.write(example.replace(README_API, self.world.server.api))
            file.flush()
            environment = {**os.environ, "WALLET_KEY": key}
            printed = subprocess.check_output(["node", file.name], text=True, timeout=NODE_SECONDS_MAX, env=environment)
        self.assertIn("newBalance: 5", printed)
        self.assertRegex(printed, r"(?m)^4\.99\d+$")

    def test_venice_x402_client_tops_up_asks_and_reads_its_history(self):
        self.run_node("venice.test.mjs", *self.node_payers())

    def test_pypi_x402_and_python_wallets(self):
        from python_clients import check

        check(self.world)


if __name__ == "__main__":
    unittest.main(verbosity=2)
