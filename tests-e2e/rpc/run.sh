#!/usr/bin/env bash
# Runs ethers, viem and web3.py against a Tollgate in front of anvil: tests-e2e/rpc/run.sh BINARY
# `make test` installs the clients; scripts/clients.sh lists them.
set -euo pipefail

binary=$(realpath "${1:?give the path of the tollgate binary}")
cd "$(dirname "$0")"
.venv/bin/python run.py "$binary"
