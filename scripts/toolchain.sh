#!/usr/bin/env bash
# Makes sure of what builds SQLite and the codecs (C and C++ compilers, cmake, make), and of a Rust
# toolchain that is new enough. Model runtimes are fetched, not built. To be sourced.

rust_wanted() { sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml; }

# A compiler we put there ourselves may not be on the caller's PATH yet.
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

# The version of a package that apt would install; nothing where it has none.
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
  # Neither the distribution's rustup nor a new enough compiler: the project's own installer.
  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
    sh -s -- -y --profile minimal --component rustfmt --component clippy >&2
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
  install_rust "$wanted" || say "that did not work"
  find_cargo
  has_rust || fail "no Rust $wanted or newer. Install it from https://rustup.rs, then run this again."
}
