#!/usr/bin/env bash
# Runs real wallets and x402 clients against a Tollgate on local chains: tests-e2e/wallet/clients/run.sh BINARY
# `make test` installs the clients; scripts/clients.sh lists them.
set -euo pipefail

binary=$(realpath "${1:?give the path of the tollgate binary}")
cd "$(dirname "$0")"
.venv/bin/python run.py "$binary"
