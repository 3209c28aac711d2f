"""Tests of Python wallets: payments with PyPI's x402, sign-in with eth-account and solders, also for a contract wallet."""

import asyncio
import base64
import datetime
import json
import secrets
import urllib.parse

import httpx
from chains import CONTRACT_WALLET
from eth_account.messages import encode_defunct
from x402 import x402Client
from x402.http.clients.httpx import x402HttpxClient
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client


def check_top_up(world):
    payer = world.evm_payer()
    credited = asyncio.run(top_up(world.server.api, payer))
    assert credited == {"amountCredited": 5.0, "newBalance": 5.0}, credited
    return payer


def check(world):
    payer = check_top_up(world)
    balance = read(world.server.api, payer.address, lambda text: evm_signature(payer, text), "Ethereum", "8453")
    assert balance["balanceUsd"] == 5.0 and balance["canConsume"], balance

    owner, stranger = world.evm_payer(), world.evm_payer()
    world.evm.own_contract_wallet(owner.address)
    for signer, status in ((owner, 200), (stranger, 401)):
        response = ask(
            world.server.api,
            CONTRACT_WALLET,
            lambda text, signer=signer: evm_signature(signer, text),
            "Ethereum",
            "8453",
        )
        assert response.status_code == status, response.text

    holder = world.solana_payer()
    address = str(holder.pubkey())

    def sign(text):
        return base64.b64encode(bytes(holder.sign_message(text.encode()))).decode()

    balance = read(world.server.api, address, sign, "Solana", "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp")
    assert balance["balanceUsd"] == 0 and not balance["canConsume"], balance


async def top_up(api, payer):
    client = x402Client()
    # Otherwise the client pays at most a dollar.
    client.set_spend_controls(False)
    register_exact_evm_client(client, EthAccountSigner(payer))
    async with x402HttpxClient(client, timeout=60) as http:
        response = await http.post(f"{api}/x402/top-up")
    assert response.status_code == 200, response.text
    data = response.json()["data"]
    assert data["walletAddress"] == payer.address.lower()
    return {name: data[name] for name in ("amountCredited", "newBalance")}


def evm_signature(payer, text):
    return "0x" + payer.sign_message(encode_defunct(text=text)).signature.hex().removeprefix("0x")


def read(api, *signing):
    response = ask(api, *signing)
    assert response.status_code == 200, response.text
    return response.json()["data"]


def ask(api, address, sign, account, chain):
    """The wallet's balance, requested with a sign-in in the message form."""
    place = urllib.parse.urlsplit(api)
    issued = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    text = "\n".join(
        [
            f"{place.netloc} wants you to sign in with your {account} account:",
            address,
            "",
            "Sign in to the service",
            "",
            f"URI: {place.scheme}://{place.netloc}",
            "Version: 1",
            f"Chain ID: {chain}",
            f"Nonce: {secrets.token_hex(8)}",
            f"Issued At: {issued}",
        ]
    )
    family = "eip155" if account == "Ethereum" else "solana"
    signed = {"address": address, "message": text, "signature": sign(text), "chainId": f"{family}:{chain}"}
    header = base64.b64encode(json.dumps(signed).encode()).decode()
    return httpx.get(f"{api}/x402/balance/{address}", headers={"SIGN-IN-WITH-X": header})
