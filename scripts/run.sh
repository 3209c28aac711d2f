#!/usr/bin/env bash
# Builds the service and serves; the arguments go to `tollgate serve`.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=$(./scripts/build.sh)
exec "$binary" serve "$@"
