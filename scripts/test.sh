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

target=$(target_dir)
mkdir -p "$target"

# start NAME COMMAND...: runs a command beside the rest, with its output in a file.
declare -A started
start() {
  local name=$1
  shift
  "$@" >"$target/$name.log" 2>&1 &
  started[$name]=$!
}

# finish NAME: waits for the end of a command, and prints its output if it failed.
finish() {
  local status=0
  wait "${started[$1]}" || status=$?
  [ "$status" -eq 0 ] || cat "$target/$1.log" >&2
  return "$status"
}

# Installation first, so that a missing package fails before a long build.
ensure_toolchain
ensure_client_programs
say "the console's bundle"
./scripts/console.sh --check

# The packages of the clients are downloaded while the lints compile.
start client-packages install_client_packages
compile_with_clippy
./scripts/lint.sh --compile
finish client-packages
./scripts/lint-clients.sh

# The weights for the tests of the engine are downloaded while other tests run.
weights="$target/weights"
# shellcheck disable=SC2329 # called by start
pull_weights() {
  "$target/debug/gateway" --data-dir "$weights" models pull
  "$target/debug/gateway" --data-dir "$weights" models pull whisper-tiny upscale-esrgan
}
start weights pull_weights
use_weights() {
  finish weights
  export TOLLGATE_TEST_MODELS="$weights/models"
}

# Most of this is downloading and unpacking; 77 is "not possible on this machine".
# shellcheck disable=SC2329 # called by start
try_bare_machine() {
  nice -n 19 ./scripts/fresh.sh toolchain || [ $? -eq 77 ]
  nice -n 19 ./scripts/fresh.sh dist "$target/debug/tollgate" || [ $? -eq 77 ]
}
start bare-machine try_bare_machine

# Always the whole workspace: other package selections have other features, which would rebuild
# most crates.
if have cargo-nextest; then
  # The crates that load a model runtime, and the program linked with them. Their tests need weights.
  are_engines='package(/^engine-(local|onnx|text)$/) + package(llama) + package(tollgate)'
  run_tests() { cargo nextest run --locked --workspace --profile ci "$@"; }
  say "tests of the gateway"
  # In units of half a core; .config/nextest.toml says which tests need one unit and which two.
  run_tests --test-threads $((2 * $(nproc))) -E "not ($are_engines)"
else
  say "tests of the gateway and the engine"
  use_weights
  cargo test --locked --workspace
fi

# It lists the files of the tree, among which the clients have temporary ones.
bare_machine=0
finish bare-machine || bare_machine=$?

say "clients"
TOLLGATE="$target/debug/gateway" tests-e2e/.venv/bin/python tests-e2e/run.py

if have cargo-nextest; then
  say "tests of the engine"
  use_weights
  run_tests --test-threads $((2 * $(nproc))) -E "$are_engines"
fi

say "clients of the engine"
TOLLGATE="$target/debug/tollgate" tests-e2e/.venv/bin/python tests-e2e/run.py engine

# Last, because it depends on package sources more than on the code.
say "the install step on a bare machine"
cat "$target/bare-machine.log" >&2
exit "$bare_machine"
