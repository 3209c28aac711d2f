#!/usr/bin/env bash
# Shared functions of the scripts: messages, and installing missing tools. To be sourced.

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root: directly, or through sudo if possible.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif have sudo; then
    sudo "$@"
  else
    return 1
  fi
}

# True if packages can be installed: apt exists, and we are or can become root.
can_install() { have apt-get && { [ "$(id -u)" -eq 0 ] || have sudo; }; }

# install_packages WHY PACKAGE...: installs Debian packages, or says which are missing.
install_packages() {
  local why=$1
  shift
  can_install || fail "$why needs: $*. Install that (on Debian: apt-get install $*), then run this again."
  say "installing $* ($why)"
  # The package lists of a fresh image are empty; an outdated mirror is not an error.
  as_root apt-get update -qq || say "could not refresh the package lists; using the present ones"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
    fail "could not install $*. Install that by hand, then run this again."
}

# persist COMMAND...: runs a command that needs the network up to three times.
persist() {
  local pause
  for pause in 5 20; do
    "$@" && return 0
    say "failed; retrying in $pause s: $*"
    sleep "$pause"
  done
  "$@"
}

# at_least HAVE WANT: compares versions.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Cargo's target folder.
target_dir() { realpath -m "${CARGO_TARGET_DIR:-target}"; }
