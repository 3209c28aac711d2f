#!/usr/bin/env bash
# Installs missing tools, builds the binary and prints its path: scripts/build.sh [PROFILE].
# `release` is for deployment; `quick` builds faster, because rarely used code is not optimised.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/toolchain.sh
. scripts/toolchain.sh

profile=${1:-release}
ensure_toolchain

# An estimate from the build times of the packages on two cores; more cores need less time.
estimate() {
  local cores minutes
  cores=$(nproc 2>/dev/null || echo 2)
  minutes=$(((($1 * 2) + cores - 1) / cores))
  echo "about $minutes minutes on this machine's $cores cores the first time, seconds after that"
}

binary="$(target_dir)/$profile/tollgate"
if [ -e "$binary" ]; then
  say "building ($profile profile): only changed packages"
else
  case $profile in
    quick) say "building ($profile profile): some 560 packages, $(estimate 7)" ;;
    *) say "building ($profile profile): some 560 packages, $(estimate 18)" ;;
  esac
fi
cargo build --profile "$profile" --locked --package tollgate >&2
echo "$binary"
