#!/usr/bin/env bash
# Runs payments on local chains against a Tollgate: tests-e2e/wallet/run.sh BINARY
# `make test` installs the clients; scripts/clients.sh lists them.
set -euo pipefail

binary=$(realpath "${1:?give the path of the tollgate binary}")
cd "$(dirname "$0")"
TOLLGATE="$binary" .venv/bin/python -m unittest discover --start-directory . --verbose
