"""Tests the proxy with web3.py: clients.py BASE_URL KEY."""

import sys

from web3 import HTTPProvider, Web3

base_url, key = sys.argv[1:]
# The well-known key of anvil's third account, which has test money.
THIRD = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a"
TO = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

provider = HTTPProvider(
    f"{base_url}/crypto/rpc/base-mainnet",
    request_kwargs={"headers": {"authorization": f"Bearer {key}", "content-type": "application/json"}},
)
web3 = Web3(provider)
assert web3.is_connected()
assert web3.eth.chain_id == 8453
before = web3.eth.get_balance(TO)
account = web3.eth.account.from_key(THIRD)
signed = account.sign_transaction(
    {
        "to": TO,
        "value": 7,
        "gas": 21000,
        "nonce": web3.eth.get_transaction_count(account.address),
        "maxFeePerGas": 3 * web3.eth.gas_price,
        "maxPriorityFeePerGas": web3.eth.max_priority_fee,
        "chainId": 8453,
    }
)
sent = web3.eth.send_raw_transaction(signed.raw_transaction)
assert sent == signed.hash
assert web3.eth.wait_for_transaction_receipt(sent, timeout=30)["status"] == 1
assert web3.eth.get_balance(TO) == before + 7
with web3.batch_requests() as batch:
    batch.add(web3.eth.get_block("latest"))
    batch.add(web3.eth.get_balance(TO))
    block, balance = batch.execute()
assert block["number"] >= 1 and balance == before + 7
print("ok web3.py reads, batches and sends")
