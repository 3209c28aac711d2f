#!/usr/bin/env bash
# Installs the programs that the tests use: Python and Node clients, a browser, Postgres, nginx and Redis. To be
# sourced after lib.sh, in the root of the repository.

NODE_WANTED=20
PYTHON_WANTED=3.11

# Every test folder with its own package.json or requirements.txt.
CLIENT_FOLDERS=(tests-e2e tests-e2e/agents tests-e2e/mcp tests-e2e/rpc tests-e2e/wallet tests-e2e/wallet/clients)

ensure_python() {
  # Debian packages venv separately; a missing venv only fails when pip is used.
  if ! have python3 || ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    install_packages "the Python clients" python3 python3-venv
  fi
  local version
  version=$(python3 -c 'import platform; print(platform.python_version())')
  at_least "$version" "$PYTHON_WANTED" ||
    fail "Python $version is too old for the clients. Install $PYTHON_WANTED or newer, then run this again."
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
}

# python_clients FOLDER: installs its requirements.txt, if it has one, in a virtual environment beside it.
python_clients() {
  local wanted=$1/requirements.txt stamp=$1/.venv/installed.txt
  [ -e "$wanted" ] || return 0
  cmp -s "$wanted" "$stamp" && return 0
  say "installing the Python clients of $1"
  python3 -m venv --clear "$1/.venv"
  persist "$1/.venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted" ||
    fail "could not install the Python clients of $1; is the package index reachable, and the disk not full?"
  cp "$wanted" "$stamp"
}

# node_clients FOLDER: installs its package.json, with the versions of its lock file if it has one.
# Not `npm ci`, which refuses a lock file without the packages for other systems; a registry that
# mirrors only some systems cannot list them all. The folders that use anvil have no lock file.
node_clients() {
  local wanted=$1/package.json
  [ -e "$1/package-lock.json" ] && wanted=$1/package-lock.json
  local stamp=$1/node_modules/installed.json
  cmp -s "$wanted" "$stamp" && return 0
  say "installing the Node clients of $1"
  persist npm install --no-save --prefix "$1" --loglevel=error --no-audit --no-fund >&2 ||
    fail "could not install the Node clients of $1; is the package registry reachable, and the disk not full?"
  cp "$wanted" "$stamp"
}

# Pages that need scripts are tested with a real browser.
ensure_browser() {
  have chromium || have google-chrome || install_packages "the browser" chromium
}

# The tests start their own Postgres server from Debian's program folder; the package's own service
# is not used.
POSTGRES_WANTED=15
ensure_postgres() {
  newest_postgres >/dev/null || install_packages "the Postgres store" postgresql
  local version
  version=$(newest_postgres) || fail "Postgres is installed, but not in /usr/lib/postgresql, where the tests look for it."
  at_least "$version" "$POSTGRES_WANTED" ||
    fail "Postgres $version is too old. Install $POSTGRES_WANTED or newer, then run this again."
}

newest_postgres() {
  local server
  for server in /usr/lib/postgresql/*/bin/postgres; do
    [ -x "$server" ] && basename "${server%/bin/postgres}"
  done | sort -V | tail -n 1 | grep .
}

# The tests start their own proxy in front of several nodes.
ensure_nginx() {
  have nginx || [ -x /usr/sbin/nginx ] || install_packages "the proxy in front of nodes" nginx-light
}

# The tests of shared limits start their own server.
ensure_redis() {
  have valkey-server || have redis-server || install_packages "limits across nodes" redis-server
}

ensure_client_programs() {
  ensure_python
  ensure_node
  ensure_browser
  ensure_postgres
  ensure_nginx
  ensure_redis
}

install_client_packages() {
  local folder
  for folder in "${CLIENT_FOLDERS[@]}"; do
    python_clients "$folder"
    node_clients "$folder"
  done
}
