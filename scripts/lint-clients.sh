#!/usr/bin/env bash
# Checks the formatting of Python, TypeScript, Svelte and shell, and lints Python and shell.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/clients.sh
. scripts/clients.sh

ensure_python
ensure_node
python_clients tests-e2e
node_clients console

say "ruff"
tests-e2e/.venv/bin/ruff format --check --quiet . ||
  fail "Python is not formatted; run: tests-e2e/.venv/bin/ruff format"
tests-e2e/.venv/bin/ruff check --quiet .
say "shellcheck, shfmt"
mapfile -t shell < <(git ls-files '*.sh' .ci/run)
tests-e2e/.venv/bin/shellcheck --external-sources "${shell[@]}"
tests-e2e/.venv/bin/shfmt --indent 2 --case-indent --diff "${shell[@]}" ||
  fail "a shell script is not formatted; run: make fmt"
say "prettier"
npm run --silent --prefix console format:check >/dev/null ||
  fail "the console or a JavaScript test is not formatted; run: npm run --prefix console format"
