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

# The crates that compile a model runtime, and the program that is linked with it. The gateway's
# own tests do without them.
engines=(engine-local engine-onnx engine-text tollgate)
rest=()
for engine in "${engines[@]}"; do rest+=(--exclude "$engine"); done

run_tests() {
  if have cargo-nextest; then
    cargo nextest run --locked "$@"
  else
    cargo test --locked "$@"
  fi
}

say "tests of the gateway"
run_tests --workspace "${rest[@]}"

say "clients"
cargo build --locked --package cli
binary="$(target_dir)/debug/gateway"
TOLLGATE="$binary" tests-e2e/.venv/bin/python -m unittest discover --start-directory tests-e2e --verbose
./tests-e2e/rpc/run.sh "$binary"
./tests-e2e/wallet/clients/run.sh "$binary"
./tests-e2e/wallet/run.sh "$binary"

say "weights for the tests of the engine"
weights="$(target_dir)/weights"
"$binary" --data-dir "$weights" models pull
"$binary" --data-dir "$weights" models pull whisper-tiny
export TOLLGATE_TEST_MODELS="$weights/models"

say "tests of the engine"
run_tests "${engines[@]/#/--package=}"

say "clients of the engine"
cargo build --locked --package tollgate
TOLLGATE="$(target_dir)/debug/tollgate" tests-e2e/.venv/bin/python -m unittest discover --verbose \
  --start-directory tests-e2e/engine --top-level-directory tests-e2e
