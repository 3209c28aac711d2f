#!/usr/bin/env bash
# Builds the console, with the types of the API. With --check, checks that the committed bundle and types
# match their sources.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/clients.sh
. scripts/clients.sh

ensure_node
node_clients console
if [ "${1:-}" != --check ]; then
  npm run --silent --prefix console types >&2
  npm run --silent --prefix console build
  exit
fi

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
npm run --silent --prefix console types:check >/dev/null ||
  fail "console/src/lib/openapi.d.ts is not what openapi.json makes; run scripts/console.sh and commit it."
npm run --silent --prefix console check
npm run --silent --prefix console build -- --outDir "$built" --emptyOutDir >/dev/null
diff -r "$built" console/dist >/dev/null ||
  fail "console/dist is not what console/src makes; run scripts/console.sh and commit it."
