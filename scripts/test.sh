#!/usr/bin/env bash
# Installs what the tests need and runs them all: lints, the Rust tests, and real clients.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/toolchain.sh
. scripts/toolchain.sh
# shellcheck source=scripts/clients.sh
. scripts/clients.sh

# First what can fail for want of a package, so that nobody waits for a build to learn it.
ensure_toolchain
ensure_clients
./scripts/lint.sh

say "tests"
if have cargo-nextest; then
  cargo nextest run --workspace --locked
else
  cargo test --workspace --locked
fi

say "clients"
cargo build --locked --package cli
binary="$(target_dir)/debug/tollgate"
TOLLGATE="$binary" .venv/bin/python -m unittest discover --start-directory tests-e2e --verbose
./tests-e2e/rpc/run.sh "$binary"
