#!/usr/bin/env bash
# Tests the first command on a bare system: creates a minimal Debian root with the machine's own
# package sources, copies the repository into it, and runs the install step there.
#
#   scripts/fresh.sh toolchain   installs the build tools, as root and as a user with sudo
#   scripts/fresh.sh whole       also builds and serves, up to the first answer of a chat
#   scripts/fresh.sh dist BINARY packs the binary with scripts/dist.sh, installs the archive, and serves
#
# Needs root (for chroot) and mmdebstrap, which it installs. Rust comes from the machine, because
# this tests packages: the toolchain's folder is mounted read-only, not copied. If one of these is
# missing, it says so and exits with 77, which `make test` reports as "not tried".
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

NOT_TRIED=77
SUITE=bookworm
what=${1:-toolchain}
case $what in toolchain | whole | dist) ;; *) fail "usage: scripts/fresh.sh toolchain|whole|dist [BINARY]" ;; esac

not_tried() {
  say "not tried: $*"
  exit "$NOT_TRIED"
}

[ "$(id -u)" -eq 0 ] || not_tried "making a root needs root"
have apt-get || not_tried "this machine has no apt"
have mmdebstrap || (install_packages "a bare root" mmdebstrap) || not_tried "there is no mmdebstrap"
have rustc || not_tried "there is no Rust to lend"

# Kept between runs: creating it takes half a minute, and each test works on a copy.
cache="${FRESH_CACHE:-${TMPDIR:-/tmp}/tollgate-fresh}"
bare="$cache/bare.tar"
root=""

leave() {
  [ -n "$root" ] || return 0
  local mounted
  for mounted in dev/pts dev proc rust; do umount -l "$root/$mounted" 2>/dev/null || true; done
  # Nothing may be mounted below it when it is removed.
  grep -q " $root/" /proc/mounts || rm -rf --one-file-system "$root"
  root=""
}
trap leave EXIT

# Lists apt's configuration files for mirrors and proxies, but not its post-install hooks.
apt_settings() { grep -liE '^ *Acquire' /etc/apt/apt.conf.d/* 2>/dev/null || true; }

make_bare() {
  local options=() file
  while read -r file; do options+=(--aptopt="$file"); done < <(apt_settings)
  local sources=/etc/apt/sources.list.d/debian.sources
  [ -e "$sources" ] || sources=/etc/apt/sources.list
  mkdir -p "$cache"
  say "making a bare $SUITE root"
  mmdebstrap --quiet --variant=minbase --mode=root --include=sudo "${options[@]}" \
    "$SUITE" "$bare.new.tar" "$sources" || not_tried "mmdebstrap failed; are the sources reachable?"
  mv "$bare.new.tar" "$bare"
}

# Makes a copy of the bare root with the repository in it, and a user with sudo.
enter() {
  root=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-root.XXXXXX")
  chmod 755 "$root"
  tar -xf "$bare" -C "$root" --exclude='./dev/*'
  cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
  apt_settings | xargs -r cp -t "$root/etc/apt/apt.conf.d/"
  # Additional certificate authorities of the machine, for registries behind a proxy.
  mkdir -p "$root/usr/local/share/ca-certificates"
  cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
  mkdir -p "$root/tree" "$root/rust" "$root/dev" "$root/proc"
  git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done |
    xargs -0 cp --parents -t "$root/tree"
  mount --bind /dev "$root/dev" 2>/dev/null || not_tried "this machine may not mount"
  mount --bind /dev/pts "$root/dev/pts" 2>/dev/null || true
  mount -t proc proc "$root/proc" 2>/dev/null || not_tried "this machine may not mount"
  # Mounted, because Rust itself is not tested and its documentation would be most of a copy.
  mount --bind -o ro "$(rustc --print sysroot)" "$root/rust"
  chroot "$root" useradd --create-home --home-dir /tmp/builder --shell /bin/bash builder
  echo 'builder ALL=(ALL) NOPASSWD:ALL' >"$root/etc/sudoers.d/builder"
  chroot "$root" chown -R builder /tree
  inside root apt-get update -qq >/dev/null 2>&1 || not_tried "no packages are reachable in there"
}

# inside USER COMMAND...: runs it with a login environment and this machine's registry settings.
inside() {
  local user=$1 home=/tmp
  shift
  if [ "$user" != root ]; then home=/tmp/$user; fi
  chroot --userspec="$user" "$root" env -i \
    PATH=/rust/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 HOME="$home" \
    ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} \
    ${PIP_CERT:+PIP_CERT="$PIP_CERT"} \
    ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS="$NODE_EXTRA_CA_CERTS"} \
    ${npm_config_registry:+npm_config_registry="$npm_config_registry"} "$@"
}

# Runs the install step, and checks that the installed tools compile and link.
# shellcheck disable=SC2016 # expanded in there
PROOF='set -e
  cd /tree
  . scripts/lib.sh
  . scripts/toolchain.sh
  ensure_toolchain
  for tool in cc c++ cmake make cargo; do command -v $tool >/dev/null || fail "no $tool"; done
  cd "$(mktemp -d)"
  echo "int main(void) { return 0; }" >one.c && cc -o one one.c && ./one
  printf "#include <string>\nint main() { return std::string().size(); }\n" >two.cc
  c++ -o two two.cc && ./two'

# Installs the archive as docs/packaging.md says, and checks the unit with systemd.
# shellcheck disable=SC2016 # expanded in there
INSTALL='set -e
  apt-get install -y -qq --no-install-recommends ca-certificates libstdc++6 procps systemd >/dev/null 2>&1
  cd /tmp && tar -xzf /tree/archive.tar.gz && cd tollgate-*/
  install -m 755 tollgate /usr/local/bin/
  install -D -m 644 tollgate.1 /usr/local/share/man/man1/tollgate.1
  install -m 644 tollgate.service /etc/systemd/system/
  install -d /etc/tollgate && tollgate init --no-look --config /etc/tollgate/tollgate.toml >/dev/null
  systemd-analyze verify --man=no /etc/systemd/system/tollgate.service
  for file in completions/tollgate.bash completions/tollgate.zsh completions/tollgate.fish LICENSE config.md; do
    [ -s "$file" ] || { echo "the archive has no $file" >&2; exit 1; }
  done
  [ "$(find licences -type f | wc -l)" -gt 100 ]'

[ -e "$bare" ] || make_bare
if [ "$what" = dist ]; then
  archive=$(./scripts/dist.sh "${2:-}")
  (cd "$(dirname "$archive")" && sha256sum --check --quiet SHA256SUMS)
  say "the archive on a bare machine"
  enter
  cp "$archive" "$root/tree/archive.tar.gz"
  inside root bash -c "$INSTALL"
  set -m
  inside builder tollgate serve --config /etc/tollgate/tollgate.toml --data-dir /tmp/builder/data \
    --listen 127.0.0.1:18081 </dev/null >"$cache/dist.log" 2>&1 &
  served=$!
  set +m
  until inside builder tollgate --data-dir /tmp/builder/data accounts list >/dev/null 2>&1; do
    kill -0 "$served" 2>/dev/null || fail "the service ended; see $cache/dist.log"
    sleep 1
  done
  inside builder tollgate --version
  kill -- -"$served" 2>/dev/null || true
  wait "$served" 2>/dev/null || true
  say "the archive runs on a bare machine"
  exit
fi

for user in builder root; do
  say "the install step on a bare machine, as $user"
  leave
  enter
  inside "$user" bash -c "$PROOF"
done

if [ "$what" = whole ]; then
  say "make run on a bare machine, to the first answer of a chat"
  leave
  enter
  # The only package that the README asks for.
  inside root apt-get install -y -qq --no-install-recommends make >/dev/null 2>&1
  begun=$(date +%s)
  # Its own process group, so that the service can be ended with it.
  set -m
  inside builder bash -c 'cd /tree && exec make run ARGS="--listen 127.0.0.1:18080"' \
    </dev/null >"$cache/run.log" 2>&1 &
  served=$!
  set +m
  until inside builder bash -c 'cd /tree && [ -e target/quick/tollgate ] &&
    ./target/quick/tollgate chat "What is the capital of France?"' 2>/dev/null; do
    kill -0 "$served" 2>/dev/null || fail "make run ended; see $cache/run.log"
    sleep 5
  done
  say "answered after $(($(date +%s) - begun)) s"
  kill -- -"$served" 2>/dev/null || true
  wait "$served" 2>/dev/null || true
fi
say "a bare machine gets everything that building needs"
