#!/usr/bin/env bash
# Installs the tools that build SQLite and the codecs (C and C++ compilers, cmake, make), and a recent
# Rust toolchain. Model runtimes are downloaded, not built. To be sourced.

rust_wanted() { sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml; }

# A toolchain from an earlier run may not be on the caller's PATH yet.
find_cargo() {
  if [ -d "${CARGO_HOME:-$HOME/.cargo}/bin" ]; then
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    export PATH
  fi
}

has_rust() {
  local version
  version=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) || return 1
  [ -n "$version" ] && have cargo && at_least "$version" "$(rust_wanted)"
}

# The version of a package that apt would install; empty if there is none.
candidate() {
  have apt-cache || return 0
  apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([0-9][^ ]*\)$/\1/p'
}

install_rust() {
  local wanted=$1
  say "installing Rust $wanted or newer"
  if ! have rustup && [ -n "$(candidate rustup)" ]; then
    install_packages "Rust" rustup
  fi
  if have rustup; then
    rustup toolchain install stable --profile minimal --component rustfmt --component clippy >&2 &&
      rustup default stable >&2 && return 0
    return 1
  fi
  local packaged
  packaged=$(candidate rustc)
  if [ -n "$packaged" ] && at_least "$packaged" "$wanted"; then
    install_packages "Rust" rustc cargo rustfmt rust-clippy
    return 0
  fi
  # Without the distribution's rustup or a recent compiler, the Rust project's installer is used.
  install_rustup
}

# A fixed release of the Rust project's installer, which runs only if its SHA-256 digest matches. The
# digests are those that the project publishes beside the files.
RUSTUP_RELEASE=1.28.2
rustup_digest() {
  case $1 in
    x86_64) echo 20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c ;;
    aarch64) echo e3853c5a252fca15252d07cb23a1bdd9377a8c6f3efa01531109281ae47f841c ;;
    *) return 1 ;;
  esac
}

install_rustup() {
  local machine digest folder
  machine=$(uname -m)
  digest=$(rustup_digest "$machine") || return 1
  folder=$(mktemp -d)
  if curl --proto '=https' --tlsv1.2 -sSf -o "$folder/rustup-init" \
    "https://static.rust-lang.org/rustup/archive/$RUSTUP_RELEASE/$machine-unknown-linux-gnu/rustup-init" &&
    is_digest "$folder/rustup-init" "$digest"; then
    chmod +x "$folder/rustup-init"
    "$folder/rustup-init" -y --profile minimal --component rustfmt --component clippy >&2
  else
    rm -rf "$folder"
    return 1
  fi
  rm -rf "$folder"
}

# is_digest FILE SHA256: true if the file has this digest.
is_digest() {
  echo "$2  $1" | sha256sum --check --status && return 0
  say "the checksum of $1 is wrong; it is not run"
  return 1
}

ensure_toolchain() {
  local missing=()
  have cc || missing+=(gcc libc6-dev)
  have c++ || missing+=(g++)
  have cmake || missing+=(cmake)
  have make || missing+=(make)
  have curl || missing+=(curl)
  [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki ] || [ -e /etc/ssl/cert.pem ] ||
    missing+=(ca-certificates)
  [ ${#missing[@]} -eq 0 ] || install_packages "building" "${missing[@]}"

  find_cargo
  has_rust && return 0
  local wanted
  wanted=$(rust_wanted)
  install_rust "$wanted" || say "the installation of Rust failed"
  find_cargo
  has_rust || fail "no Rust $wanted or newer. Install it from https://rustup.rs, then run this again."
}

# Lets clippy compile the workspace's crates, in this and all later calls of cargo. One pass then lints
# them and generates their code, and packages of others are compiled once, not checked first.
compile_with_clippy() { export RUSTC_WORKSPACE_WRAPPER="$PWD/scripts/clippy-rustc.sh"; }
