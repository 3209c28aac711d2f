#!/usr/bin/env bash
# Runs payments on local chains against a Tollgate: tests-e2e/wallet/run.sh BINARY
set -euo pipefail

binary=$(realpath "${1:?give the path of the tollgate binary}")
cd "$(dirname "$0")"

# Without a lock file: it would have to name anvil's packages for every other system too.
if ! cmp -s package.json node_modules/installed.json; then
  npm install --no-package-lock --silent --no-audit --no-fund
  cp package.json node_modules/installed.json
fi
if ! cmp -s requirements.txt .venv/installed.txt; then
  python3 -m venv --clear .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
  cp requirements.txt .venv/installed.txt
fi
TOLLGATE="$binary" .venv/bin/python -m unittest discover --start-directory . --verbose
