#!/usr/bin/env bash
# Runs all static checks. With --compile, clippy compiles what it checks, tests included.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/toolchain.sh
. scripts/toolchain.sh

ensure_toolchain
have git || install_packages "the check of the tree" git
have cargo-fmt && have cargo-clippy ||
  { have rustup && rustup component add rustfmt clippy >&2; } ||
  fail "rustfmt and clippy are missing. Install them beside your Rust, then run this again."

# `tidy` reads the packages of every system offline.
say "packages"
persist cargo fetch --quiet --locked
say "formatting"
cargo fmt --all --check
say "tidy"
cargo xtask tidy
say "clippy"
if [ "${1:-}" = --compile ]; then
  compile_with_clippy
  cargo build --workspace --all-targets --locked
else
  cargo clippy --workspace --all-targets --locked -- -D warnings
fi
