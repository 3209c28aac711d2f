#!/usr/bin/env bash
# What the other scripts share: messages, and getting a tool that is missing. To be sourced.

say() { printf '\033[1m%s\033[0m\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root: directly, or through sudo where that works.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif have sudo; then
    sudo "$@"
  else
    return 1
  fi
}

# Whether packages can be installed at all: there is apt, and we are or can become root.
can_install() { have apt-get && { [ "$(id -u)" -eq 0 ] || have sudo; }; }

# install_packages WHY PACKAGE...: installs Debian packages, or says which are missing.
install_packages() {
  local why=$1
  shift
  can_install || fail "$why needs: $*. Install that (on Debian: apt-get install $*), then run this again."
  say "installing $* ($why)"
  # The lists of a fresh image are empty; a stale mirror is not a reason to stop.
  as_root apt-get update -qq || say "could not refresh the package lists; trying with what is there"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
    fail "could not install $*. Install that by hand, then run this again."
}

# persist COMMAND...: runs what depends on the network up to three times; what it printed tells why.
persist() {
  local pause
  for pause in 5 20; do
    "$@" && return 0
    say "that failed; once more in $pause s: $*"
    sleep "$pause"
  done
  "$@"
}

# at_least HAVE WANT: compares versions.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# Where cargo puts what it builds.
target_dir() { realpath -m "${CARGO_TARGET_DIR:-target}"; }
