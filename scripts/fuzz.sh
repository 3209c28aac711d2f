#!/usr/bin/env bash
# Fuzzes what callers and providers send, one target after the other: scripts/fuzz.sh [SECONDS] [TARGET...]
# It starts from fuzz/seeds and what earlier runs found; an input that breaks a property is left in
# fuzz/artifacts. Copy it into fuzz/seeds/TARGET once it is understood: the tests then replay it.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/toolchain.sh
. scripts/toolchain.sh

seconds=${1:-60}
targets=("${@:2}")
if [ ${#targets[@]} -eq 0 ]; then
  for file in fuzz/fuzz_targets/*.rs; do targets+=("$(basename "$file" .rs)"); done
fi

ensure_toolchain
if ! have cargo-fuzz; then
  say "installing cargo-fuzz"
  cargo install cargo-fuzz --version 0.13.1 --locked --quiet
fi

# The sanitizers and the coverage that steers the fuzzer are not stable yet; the compiler has them.
export RUSTC_BOOTSTRAP=1
for target in "${targets[@]}"; do
  say "fuzzing $target for $seconds s"
  # HEADER_BYTES_MAX of the wallet crate and a little more: the bound itself is to be tried. Whole
  # documents are larger.
  bytes_max=17000
  if [[ $target == document_* || $target == *_file ]]; then bytes_max=40000; fi
  mkdir -p "fuzz/corpus/$target"
  # Noting every comparison makes the arithmetic of signatures many times slower, and the seeds have
  # the words of the formats already.
  cargo fuzz run --sanitizer "${SANITIZER:-address}" --no-trace-compares "$target" \
    "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
    -max_total_time="$seconds" -max_len="$bytes_max" -print_final_stats=1 -verbosity=0
done
