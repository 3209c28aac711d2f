#!/usr/bin/env bash
# Fuzzes the parsers of untrusted input, one target after the other: scripts/fuzz.sh [SECONDS] [TARGET...]
# Starts from fuzz/seeds and the findings of earlier runs; an input that breaks a property is written to
# fuzz/artifacts. Copy it to fuzz/seeds/TARGET once it is understood: the tests then replay it.
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

# The sanitizers and the fuzzer's coverage are unstable features, which this allows in a stable compiler.
export RUSTC_BOOTSTRAP=1
for target in "${targets[@]}"; do
  say "fuzzing $target for $seconds s"
  # Slightly above HEADER_BYTES_MAX of the wallet crate, so that the limit itself is tested. Whole
  # documents are larger.
  bytes_max=17000
  if [[ $target == document_* || $target == *_file ]]; then bytes_max=40000; fi
  mkdir -p "fuzz/corpus/$target"
  # Tracing comparisons makes signature arithmetic many times slower, and the seeds already have the
  # keywords of the formats.
  cargo fuzz run --sanitizer "${SANITIZER:-address}" --no-trace-compares "$target" \
    "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
    -max_total_time="$seconds" -max_len="$bytes_max" -print_final_stats=1 -verbosity=0
done
