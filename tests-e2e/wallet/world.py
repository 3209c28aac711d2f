"""The chains of these tests, started once and stopped at the end."""

import atexit
import functools

from chains import Evm, Facilitator, Solana
from payers import EvmPayer, SolanaPayer
from till import FEE_PAYER, PAY_TO_EVM, PAY_TO_SOLANA

FIVE, SIX = 5_000_000, 6_000_000
ETHER = 10**18


@functools.cache
def evm():
    chain = Evm()
    atexit.register(chain.stop)
    return chain


@functools.cache
def solana():
    chain = Solana()
    atexit.register(chain.stop)
    chain.call("test_fund", PAY_TO_SOLANA, 0)
    chain.call("test_airdrop", FEE_PAYER, 10_000_000_000)
    return chain


@functools.cache
def facilitator():
    service = Facilitator(evm().url, solana())
    atexit.register(service.stop)
    return service


def evm_payer(units=100_000_000):
    payer = EvmPayer()
    evm().mint(payer.address, units)
    return payer


def solana_payer(units=100_000_000):
    payer = SolanaPayer()
    solana().call("test_fund", payer.address, units)
    return payer


def on_base(payer, units=FIVE, **changes):
    return payer.header(PAY_TO_EVM, units, **changes)


def on_solana(payer, units=FIVE, fee_payer=FEE_PAYER, extra=()):
    return payer.header(solana(), PAY_TO_SOLANA, fee_payer, units, extra)


class Received:
    """Compares payments received on the chains since its creation with the ledger."""

    def __init__(self):
        self.before = self._now()

    def _now(self):
        return {
            "eip155:8453": evm().tokens(PAY_TO_EVM),
            "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": solana().call("test_tokens", PAY_TO_SOLANA),
        }

    def check(self, test, till):
        since = {network: units - self.before[network] for network, units in self._now().items()}
        moved = {network: units for network, units in since.items() if units != 0}
        test.assertEqual(till.received(), moved, "the books and the chains")
