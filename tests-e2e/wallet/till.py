"""A Tollgate that accepts payments on local chains, with client and operator helpers."""

import base64
import contextlib
import itertools
import json
import pathlib
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from server import Server  # noqa: E402
from solders.keypair import Keypair  # noqa: E402

# The first of anvil's well-known accounts.
RELAYER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
PAY_TO_EVM = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65"
PAY_TO_SOLANA = str(Keypair.from_seed(bytes([9] * 32)).pubkey())
FEE_PAYER_KEY = "hex:" + "07" * 32
FEE_PAYER = str(Keypair.from_seed(bytes([7] * 32)).pubkey())
ANSWER_SECONDS_MAX = 60
EVENTUALLY_SECONDS_MAX = 45
ADDRESSES = (f"10.{a}.{b}.{c}" for a, b, c in itertools.product(range(256), range(256), range(1, 255)))


def direct(evm_url, solana_url, **changes):
    """A configuration for direct settlement."""
    return configuration(
        {
            "settle": "direct",
            "evm_rpc_url": evm_url,
            "evm_relayer_key": RELAYER_KEY,
            "solana_rpc_url": solana_url,
            "solana_fee_payer_key": FEE_PAYER_KEY,
            **changes,
        }
    )


def through(facilitator_url, fee_payer, evm_url, solana_url, **changes):
    """A configuration for settlement through a facilitator."""
    return configuration(
        {
            "settle": "facilitator",
            "facilitator_url": facilitator_url,
            "evm_rpc_url": evm_url,
            "solana_rpc_url": solana_url,
            "solana_fee_payer": fee_payer,
            **changes,
        }
    )


def configuration(x402):
    settings = {"pay_to_evm": PAY_TO_EVM, "pay_to_solana": PAY_TO_SOLANA, "settle_wait_s": 15, **x402}
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    return "\n".join(['[server]\ntrusted_proxies = ["127.0.0.0/8"]', "[x402]", *lines, ""])


class Till(Server):
    """The service, with the requests of these tests."""

    # The transaction that settled the last payment.
    settled_by = None

    def pay(self, header):
        """Posts a payment and returns the status and the body."""
        # Each post uses another address, because the rate limit per address is not tested here.
        headers = {"payment-signature": header, "x-forwarded-for": next(ADDRESSES)}
        request = urllib.request.Request(f"{self.api}/x402/top-up", b"", headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS_MAX) as response:
                result = json.loads(base64.b64decode(response.headers["payment-response"]))
                self.settled_by = result["transaction"]
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def ask(self, address):
        """Requests the payment terms from an address; returns the status."""
        request = urllib.request.Request(f"{self.api}/x402/top-up", b"", {"x-forwarded-for": address}, method="POST")
        try:
            return urllib.request.urlopen(request, timeout=ANSWER_SECONDS_MAX).status
        except urllib.error.HTTPError as error:
            return error.code

    def pay_until(self, header, status):
        """Posts a payment repeatedly, like its client, until the response has this status."""
        deadline = time.monotonic() + EVENTUALLY_SECONDS_MAX
        while True:
            answer = self.pay(header)
            if answer[0] == status or deadline < time.monotonic():
                return answer
            time.sleep(0.2)

    def received(self):
        """Received payments in the ledger, by network, in base units of the token."""
        received = {}
        for line in self.command("ledger", "export", "--format", "json").splitlines():
            entry = json.loads(line)
            if entry["code"] == "top_up":
                network = entry["debit"].split("cash:")[-1]
                received[network] = received.get(network, 0) + round(float(entry["amount"]) * 1_000_000)
        return received

    def verify(self):
        """Raises unless the ledger is correct."""
        self.command("ledger", "verify")


@contextlib.contextmanager
def running(config):
    with Till(config=config) as till:
        yield till
        till.verify()
