"""Starts anvil and a Tollgate in front of it, and runs ethers, viem and web3.py against them."""

import pathlib
import re
import subprocess
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from server import Server  # noqa: E402

CLIENT_SECONDS_MAX = 180


def survives_a_power_cut(server, key):
    """Checks that a response is replayed from disk after the service was killed."""
    first = keyed_call(server, key)
    server.kill()
    server.start_again()
    second = keyed_call(server, key)
    assert first.headers["Idempotent-Replayed"] is None
    assert second.headers["Idempotent-Replayed"] == "true"
    assert second.read() == first.read()
    print("ok an answer survives kill -9")


def keyed_call(server, key):
    headers = {
        "authorization": f"Bearer {key}",
        "content-type": "application/json",
        "idempotency-key": "power-cut",
    }
    call = b'{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}'
    url = f"{server.url}/api/v1/crypto/rpc/base-mainnet"
    return urllib.request.urlopen(urllib.request.Request(url, call, headers))


def main():
    anvil = subprocess.Popen(
        [str(HERE / "node_modules/.bin/anvil"), "--port", "0", "--chain-id", "8453"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = next(found.group(1) for line in anvil.stdout if (found := re.search(r"Listening on (\S+)", line)))
        config = f'[rpc.networks.base-mainnet]\nurls = ["http://{address}"]\n'
        with Server(config=config) as server:
            key = server.create_key("inference")
            server.command("accounts", "credit", "default", "1")
            base_url = f"{server.url}/api/v1"
            clients = [
                ["node", str(HERE / "clients.mjs"), base_url, key],
                [sys.executable, str(HERE / "clients.py"), base_url, key],
            ]
            for line in clients:
                subprocess.run(line, check=True, timeout=CLIENT_SECONDS_MAX)
            survives_a_power_cut(server, key)
    finally:
        anvil.terminate()
        anvil.wait()


if __name__ == "__main__":
    main()
