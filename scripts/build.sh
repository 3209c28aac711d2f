#!/usr/bin/env bash
# Builds the release binary, after installing what is missing, and prints where it is.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/toolchain.sh
. scripts/toolchain.sh
# shellcheck source=scripts/processor.sh
. scripts/processor.sh

ensure_toolchain
use_processor
start_afresh_for_processor
say "building"
cargo build --release --locked --package tollgate >&2
echo "$(target_dir)/release/tollgate"
