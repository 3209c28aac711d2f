#!/usr/bin/env bash
# Makes sure of the clients that the end-to-end tests drive: Python's and Node's. To be sourced.

NODE_WANTED=18
PYTHON_WANTED=3.11

ensure_python() {
  # Debian splits venv off, and its absence only shows when pip is asked for.
  if ! have python3 || ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    install_packages "the Python clients" python3 python3-venv
  fi
  local version
  version=$(python3 -c 'import platform; print(platform.python_version())')
  at_least "$version" "$PYTHON_WANTED" ||
    fail "Python $version is too old for the clients. Install $PYTHON_WANTED or newer, then run this again."
  local stamp=.venv/installed.txt
  if [ -x .venv/bin/python ] && cmp -s tests-e2e/requirements.txt "$stamp"; then
    return 0
  fi
  say "installing the Python clients"
  python3 -m venv --clear .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r tests-e2e/requirements.txt ||
    fail "could not install the Python clients; is the package index reachable?"
  cp tests-e2e/requirements.txt "$stamp"
}

ensure_node() {
  local missing=()
  have node || missing+=(nodejs)
  have npm || missing+=(npm)
  [ ${#missing[@]} -eq 0 ] || install_packages "the Node clients" "${missing[@]}"
  local version
  version=$(node --version)
  at_least "${version#v}" "$NODE_WANTED" ||
    fail "Node $version is too old for the clients. Install $NODE_WANTED or newer, then run this again."
  local stamp=tests-e2e/node_modules/installed.json
  if cmp -s tests-e2e/package-lock.json "$stamp"; then
    return 0
  fi
  say "installing the Node clients"
  npm ci --prefix tests-e2e --silent --no-audit --no-fund ||
    fail "could not install the Node clients; is the package registry reachable?"
  cp tests-e2e/package-lock.json "$stamp"
}

ensure_clients() {
  ensure_python
  ensure_node
}
