#!/usr/bin/env bash
# Runs real wallets and x402 clients against a Tollgate on local chains: tests-e2e/wallet/clients/run.sh BINARY
set -euo pipefail

binary=$(realpath "${1:?give the path of the tollgate binary}")
cd "$(dirname "$0")"

# Without a lock file: it would have to name anvil's packages for every other system too.
install_packages() {
  if ! cmp -s package.json node_modules/installed.json; then
    npm install --no-package-lock --silent --no-audit --no-fund
    cp package.json node_modules/installed.json
  fi
}
(cd .. && install_packages)
install_packages
if ! cmp -s requirements.txt .venv/installed.txt; then
  python3 -m venv --clear .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
  cp requirements.txt .venv/installed.txt
fi
.venv/bin/python run.py "$binary"
