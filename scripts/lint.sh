#!/usr/bin/env bash
# Runs all static checks.
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

say "formatting"
cargo fmt --all --check
say "clippy"
cargo clippy --workspace --all-targets --locked -- -D warnings
say "tidy"
cargo xtask tidy
