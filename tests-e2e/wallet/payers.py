"""Payers with their own keys, which sign the values of payment headers."""

import base64
import json
import os
import time

from chains import USDC
from eth_account import Account
from solana_node import TOKEN, token_account
from solana_node import USDC as SOLANA_USDC
from solders.compute_budget import set_compute_unit_limit, set_compute_unit_price
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import MessageV0, to_bytes_versioned
from solders.null_signer import NullSigner
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

AUTHORIZATION = [
    {"name": "from", "type": "address"},
    {"name": "to", "type": "address"},
    {"name": "value", "type": "uint256"},
    {"name": "validAfter", "type": "uint256"},
    {"name": "validBefore", "type": "uint256"},
    {"name": "nonce", "type": "bytes32"},
]


class EvmPayer:
    def __init__(self, contract=None):
        self.key = Account.create()
        self.address = contract or self.key.address

    def authorize(self, pay_to, units, domain=None, **changes):
        """A signed authorization; `changes` modify its fields, and `domain` its token."""
        message = {
            "from": self.address,
            "to": pay_to,
            "value": units,
            "validAfter": 0,
            "validBefore": int(time.time()) + 300,
            "nonce": "0x" + os.urandom(32).hex(),
            **changes,
        }
        domain = {"name": "USD Coin", "version": "2", "chainId": 8453, "verifyingContract": USDC, **(domain or {})}
        signed = self.key.sign_typed_data(domain, {"TransferWithAuthorization": AUTHORIZATION}, message)
        return message, "0x" + signed.signature.hex()

    def header(self, pay_to, units, **changes):
        return evm_header(*self.authorize(pay_to, units, **changes))


def evm_header(message, signature):
    authorization = {name: str(value) for name, value in message.items()}
    return encode(
        {
            "x402Version": 2,
            "accepted": {"scheme": "exact", "network": "eip155:8453"},
            "payload": {"signature": signature, "authorization": authorization},
        }
    )


class SolanaPayer:
    def __init__(self):
        self.key = Keypair()
        self.address = str(self.key.pubkey())

    def transaction(self, node, pay_to, fee_payer, units, extra=()):
        """A transaction that its payer has signed and its fee payer has not."""
        payer, fee_payer = self.key.pubkey(), Pubkey.from_string(fee_payer)
        transfer = Instruction(
            TOKEN,
            bytes([12]) + units.to_bytes(8, "little") + bytes([6]),
            [
                AccountMeta(token_account(payer), False, True),
                AccountMeta(SOLANA_USDC, False, False),
                AccountMeta(token_account(Pubkey.from_string(pay_to)), False, True),
                AccountMeta(payer, True, False),
            ],
        )
        memo = Instruction(
            Pubkey.from_string("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"), os.urandom(8).hex().encode(), []
        )
        blockhash = node.call("getLatestBlockhash")["value"]["blockhash"]
        steps = [set_compute_unit_limit(40_000), set_compute_unit_price(1), transfer, memo, *extra]
        message = MessageV0.try_compile(fee_payer, steps, [], Hash.from_string(blockhash))
        signature = self.key.sign_message(to_bytes_versioned(message))
        empty = NullSigner(fee_payer).sign_message(to_bytes_versioned(message))
        return VersionedTransaction.populate(message, [empty, signature])

    def header(self, node, pay_to, fee_payer, units, extra=()):
        return solana_header(bytes(self.transaction(node, pay_to, fee_payer, units, extra)))


def solana_header(transaction):
    return encode(
        {
            "x402Version": 2,
            "accepted": {"scheme": "exact", "network": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"},
            "payload": {"transaction": base64.b64encode(transaction).decode()},
        }
    )


def encode(payload):
    return base64.b64encode(json.dumps(payload).encode()).decode()
