"""A local Solana: the real virtual machine and token programs (LiteSVM) behind the methods that payments need.

USDC's mint is at its mainnet address. Methods that begin with `test_` change the chain's state. Prints its port.
"""

import base64
import json
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from solders.account import Account
from solders.litesvm import LiteSVM
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction
from solders.transaction_metadata import FailedTransactionMetadata

TOKEN = Pubkey.from_string("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
ASSOCIATED = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
USDC = Pubkey.from_string("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"
TOKEN_ACCOUNT_BYTES = 165
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Refused(Exception):
    """An error response of the node: a code and a message."""


class Chain:
    """The state of the chain, and the results of sent transactions."""

    def __init__(self):
        self.machine = LiteSVM()
        self.slot = 1000
        self.landed = {}
        self.drops = 0
        mint = struct.pack("<I32sQBBI32s", 1, bytes(Pubkey.default()), 10**15, 6, 1, 0, bytes(32))
        self.put(USDC, mint)

    def put(self, address, data):
        self.machine.set_account(address, Account(10_000_000, bytes(data), TOKEN, False, 0))

    def call(self, method, params):
        self.slot += 1
        answer = getattr(self, method, None)
        if answer is None or method.startswith("_") or method in ("call", "put"):
            raise Refused(-32601, f"Method not found: {method}")
        return answer(*params)

    # Methods of real nodes.

    def getHealth(self):
        return "ok"

    def getGenesisHash(self):
        return GENESIS

    def getSlot(self, *_):
        return self.slot

    def getBlockHeight(self, *_):
        return self.slot

    def getBalance(self, address, *_):
        return self._told(self.machine.get_balance(Pubkey.from_string(address)) or 0)

    def getLatestBlockhash(self, *_):
        return self._told({"blockhash": str(self.machine.latest_blockhash()), "lastValidBlockHeight": self.slot + 150})

    def isBlockhashValid(self, blockhash, *_):
        return self._told(blockhash == str(self.machine.latest_blockhash()))

    def getAccountInfo(self, address, options=None):
        return self._told(self._account(address, (options or {}).get("encoding", "base64")))

    def getMultipleAccounts(self, addresses, options=None):
        return self._told([self._account(it, (options or {}).get("encoding", "base64")) for it in addresses])

    def getTokenAccountBalance(self, address, *_):
        account = self.machine.get_account(Pubkey.from_string(address))
        if account is None:
            raise Refused(-32602, "Invalid param: could not find account")
        return self._told(amount_json(units_of(account)))

    def getFeeForMessage(self, *_):
        return self._told(5000)

    def simulateTransaction(self, wire, options=None):
        options = options or {}
        transaction = read_transaction(wire, options)
        self.machine.with_sigverify(bool(options.get("sigVerify")))
        outcome = self.machine.simulate_transaction(transaction)
        self.machine.with_sigverify(True)
        has_failed = isinstance(outcome, FailedTransactionMetadata)
        meta = outcome.meta()
        return self._told(
            {
                "err": error_name(outcome.err()) if has_failed else None,
                "logs": list(meta.logs()),
                "unitsConsumed": meta.compute_units_consumed(),
                "accounts": None,
                "returnData": None,
                "innerInstructions": None,
            }
        )

    def sendTransaction(self, wire, options=None):
        options = options or {}
        transaction = read_transaction(wire, options)
        name = str(transaction.signatures[0])
        if 0 < self.drops:
            self.drops -= 1
            return name
        before = self._tokens(transaction)
        outcome = self.machine.send_transaction(transaction)
        error = None
        if isinstance(outcome, FailedTransactionMetadata):
            error = error_name(outcome.err())
            if name in self.landed:
                return name
            # A transaction without a fee or a signature never gets onto the chain.
            never_lands = ("Signature", "Blockhash", "InsufficientFundsForFee", "AccountNotFound")
            is_refused = any(word in error for word in never_lands) or not options.get("skipPreflight")
            if is_refused:
                raise Refused(-32002, f"Transaction simulation failed: {error}")
        self.landed[name] = {
            "slot": self.slot,
            "error": error,
            "before": before,
            "after": self._tokens(transaction),
            "signatures": [str(it) for it in transaction.signatures],
            "accounts": [str(it) for it in transaction.message.account_keys],
        }
        return name

    def getSignatureStatuses(self, names, *_):
        return self._told([self._status(it) for it in names])

    def getTransaction(self, name, *_):
        landed = self.landed.get(name)
        if landed is None:
            return None
        return {
            "slot": landed["slot"],
            "meta": {
                "err": landed["error"],
                "fee": 5000,
                "preTokenBalances": landed["before"],
                "postTokenBalances": landed["after"],
            },
            "transaction": {"signatures": landed["signatures"], "message": {"accountKeys": landed["accounts"]}},
        }

    def getSignaturesForAddress(self, address, options=None):
        names = [name for name, it in self.landed.items() if address in it["accounts"]]
        newest = list(reversed(names))[: (options or {}).get("limit", 1000)]
        return [{"signature": it, "slot": self.landed[it]["slot"], "err": self.landed[it]["error"]} for it in newest]

    # Methods for tests only.

    def test_airdrop(self, address, lamports):
        self.machine.airdrop(Pubkey.from_string(address), lamports)

    def test_fund(self, owner, units):
        owner = Pubkey.from_string(owner)
        data = bytes(USDC) + bytes(owner) + struct.pack("<Q", units) + bytes(36) + b"\x01" + bytes(56)
        assert len(data) == TOKEN_ACCOUNT_BYTES
        self.put(token_account(owner), data)
        return str(token_account(owner))

    def test_tokens(self, owner):
        account = self.machine.get_account(token_account(Pubkey.from_string(owner)))
        return 0 if account is None else units_of(account)

    def test_expire(self):
        self.machine.expire_blockhash()
        self.slot += 200

    def test_drop(self, sends):
        self.drops = sends

    # Helpers for responses.

    def _told(self, value):
        return {"context": {"apiVersion": "3.1.0", "slot": self.slot}, "value": value}

    def _status(self, name):
        landed = self.landed.get(name)
        if landed is None:
            return None
        return {
            "slot": landed["slot"],
            "confirmations": None,
            "err": landed["error"],
            "confirmationStatus": "finalized",
        }

    def _account(self, address, encoding):
        account = self.machine.get_account(Pubkey.from_string(address))
        if account is None:
            return None
        data = bytes(account.data)
        shown = [base64.b64encode(data).decode(), "base64"]
        if encoding == "jsonParsed" and account.owner == TOKEN and len(data) == TOKEN_ACCOUNT_BYTES:
            info = {
                "mint": str(Pubkey(data[:32])),
                "owner": str(Pubkey(data[32:64])),
                "state": "initialized",
                "isNative": False,
                "tokenAmount": amount_json(units_of(account)),
            }
            shown = {"program": "spl-token", "space": len(data), "parsed": {"type": "account", "info": info}}
        return {
            "data": shown,
            "executable": account.executable,
            "lamports": account.lamports,
            "owner": str(account.owner),
            "rentEpoch": 0,
            "space": len(data),
        }

    def _tokens(self, transaction):
        balances = []
        for index, address in enumerate(transaction.message.account_keys):
            account = self.machine.get_account(address)
            is_token = account is not None and account.owner == TOKEN and len(account.data) == TOKEN_ACCOUNT_BYTES
            if is_token:
                data = bytes(account.data)
                balances.append(
                    {
                        "accountIndex": index,
                        "mint": str(Pubkey(data[:32])),
                        "owner": str(Pubkey(data[32:64])),
                        "programId": str(TOKEN),
                        "uiTokenAmount": amount_json(units_of(account)),
                    }
                )
        return balances


def token_account(owner):
    return Pubkey.find_program_address([bytes(owner), bytes(TOKEN), bytes(USDC)], ASSOCIATED)[0]


def units_of(account):
    return struct.unpack_from("<Q", bytes(account.data), 64)[0]


def amount_json(units):
    return {"amount": str(units), "decimals": 6, "uiAmount": units / 1e6, "uiAmountString": str(units / 1e6)}


def error_name(error):
    """The nodes' name of an error: `AlreadyProcessed` for `TransactionErrorFieldless.AlreadyProcessed`."""
    return str(error).split(".")[-1] if "Fieldless" in str(error) else str(error)


def read_transaction(wire, options):
    is_base64 = options.get("encoding", "base58") == "base64"
    return VersionedTransaction.from_bytes(base64.b64decode(wire) if is_base64 else base58(wire))


def base58(text):
    number = 0
    for letter in text:
        number = number * 58 + ALPHABET.index(letter)
    zeros = len(text) - len(text.lstrip("1"))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    chain = None
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = [self.answer(it) for it in asked] if isinstance(asked, list) else self.answer(asked)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, call):
        envelope = {"jsonrpc": "2.0", "id": call.get("id")}
        try:
            with self.lock:
                return {**envelope, "result": self.chain.call(call["method"], call.get("params") or [])}
        except Refused as refused:
            code, message = refused.args
            return {**envelope, "error": {"code": code, "message": message}}
        except Exception as error:  # Returned to the caller; the node continues.
            return {**envelope, "error": {"code": -32602, "message": repr(error)}}


def main():
    Handler.chain = Chain()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
