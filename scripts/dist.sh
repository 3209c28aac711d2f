#!/usr/bin/env bash
# Creates the release archive: scripts/dist.sh [BINARY]. Without BINARY it builds the release profile.
# The archive has the binary, licences, completions, a manual page and a systemd unit; SHA256SUMS is
# written beside it.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

binary=${1:-}
[ -n "$binary" ] || binary=$(./scripts/build.sh release)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
name="tollgate-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)"
out="$(target_dir)/dist"
folder="$out/$name"
rm -rf "$folder"
mkdir -p "$folder/completions" "$folder/licences"

install -m 755 "$binary" "$folder/tollgate"
cp README.md CHANGELOG.md SECURITY.md LICENSE docs/config.md docs/operating.md docs/packaging.md "$folder/"
cp packaging/tollgate.service "$folder/"
for shell in bash zsh fish; do
  "$folder/tollgate" completions "$shell" >"$folder/completions/tollgate.$shell"
done
"$folder/tollgate" man >"$folder/tollgate.1"

# Every linked package with its licence, and the licence texts that its authors ship.
cargo metadata --format-version 1 --locked --filter-platform "$(rustc -vV | sed -n 's/^host: //p')" |
  python3 scripts/licences.py "$folder/licences"
# Also of third-party weights that are part of the program.
cp crates/models/engine-onnx/weights/LICENSE "$folder/licences/real-esrgan.txt"

(cd "$out" && tar --sort=name --owner=0 --group=0 --numeric-owner -czf "$name.tar.gz" "$name" &&
  sha256sum "$name.tar.gz" >SHA256SUMS)
say "packed $(du -h "$out/$name.tar.gz" | cut -f 1)"
echo "$out/$name.tar.gz"
