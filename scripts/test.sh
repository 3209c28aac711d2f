#!/usr/bin/env bash
# Installs the tools for the tests and runs all of them: lints, Rust tests, and real clients.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/toolchain.sh
. scripts/toolchain.sh
# shellcheck source=scripts/clients.sh
. scripts/clients.sh

# Installation first, so that a missing package fails before a long build.
ensure_toolchain
ensure_client_programs
say "the console's bundle"
./scripts/console.sh --check

# The packages of the clients are downloaded while the lints compile.
mkdir -p "$(target_dir)"
packages_log="$(target_dir)/client-packages.log"
install_client_packages >"$packages_log" 2>&1 &
packages=$!
./scripts/lint.sh
wait "$packages" || {
  cat "$packages_log" >&2
  exit 1
}
./scripts/lint-clients.sh

# The crates that load a model runtime, and the program linked with them. Their tests need weights,
# which the gateway downloads.
engines=(engine-local engine-onnx engine-text llama tollgate)
are_engines=$(printf ' + package(%s)' "${engines[@]}")
are_engines=${are_engines# + }

# Always the whole workspace: other package selections have other features, which would rebuild
# most crates.
if have cargo-nextest; then
  gateway_tests() { cargo nextest run --locked --workspace -E "not ($are_engines)"; }
  engine_tests() { cargo nextest run --locked --workspace -E "$are_engines"; }
else
  exclude=("${engines[@]/#/--exclude=}")
  gateway_tests() { cargo test --locked --workspace "${exclude[@]}"; }
  engine_tests() { cargo test --locked "${engines[@]/#/--package=}"; }
fi

say "tests of the gateway"
gateway_tests

say "clients"
cargo build --locked --workspace --tests --bin gateway --bin tollgate
binary="$(target_dir)/debug/gateway"
# The weights for the tests of the engine are downloaded while the clients run.
weights="$(target_dir)/weights"
weights_log="$(target_dir)/weights.log"
pull_weights() {
  "$binary" --data-dir "$weights" models pull
  "$binary" --data-dir "$weights" models pull whisper-tiny upscale-esrgan
}
pull_weights >"$weights_log" 2>&1 &
pulling=$!
TOLLGATE="$binary" tests-e2e/.venv/bin/python tests-e2e/run.py
./tests-e2e/rpc/run.sh "$binary"
./tests-e2e/wallet/clients/run.sh "$binary"
./tests-e2e/wallet/run.sh "$binary"

wait "$pulling" || {
  cat "$weights_log" >&2
  exit 1
}
export TOLLGATE_TEST_MODELS="$weights/models"

say "tests of the engine"
engine_tests

say "clients of the engine"
TOLLGATE="$(target_dir)/debug/tollgate" tests-e2e/.venv/bin/python tests-e2e/run.py engine

# Last, because it depends on package sources more than on the code: 77 is "not possible on this machine".
say "the install step on a bare machine"
./scripts/fresh.sh toolchain || [ $? -eq 77 ]
./scripts/fresh.sh dist "$(target_dir)/debug/tollgate" || [ $? -eq 77 ]
