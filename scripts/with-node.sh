#!/bin/sh
# Runs a script of this project with a Node that can run its TypeScript sources, on a machine as it comes.
# The machine's own Node is used when it is 22.18 or later; else Node 24 is installed once, from the npm
# registry, under tools/node. Dependencies are installed when package-lock.json changed since the last time.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

fits() { "$1" -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 18) ? 0 : 1)' >/dev/null 2>&1; }
say() { printf '%s\n' "$*" >&2; }

command -v npm >/dev/null 2>&1 || { say 'knotless needs Node 20 or later with npm: install it, then run this again.'; exit 2; }
command -v git >/dev/null 2>&1 || { say 'knotless needs git 2.38 or later: install it, then run this again.'; exit 2; }

pinned() { find tools/node/node_modules -path '*/node-*/bin/node' -type f 2>/dev/null | head -n 1; }
own=$(command -v node || true)
if [ -n "$own" ] && fits "$own"; then
  node=$own
else
  node=$(pinned)
  if [ -z "$node" ] || ! fits "$node"; then
    say 'Installing Node 24 for this project alone (the machine has an older one) …'
    npm ci --prefix tools/node --ignore-scripts --no-audit --no-fund --loglevel=error >&2
    node=$(pinned)
  fi
  [ -n "$node" ] && fits "$node" || { say 'No Node 24 could be had for this machine: install Node 22.18 or later, then run this again.'; exit 2; }
  node=$root/$node
  PATH=$(dirname "$node"):$PATH
  # Headers that npm was told to build against belong to the machine's older Node.
  unset npm_config_nodedir || true
  export PATH
fi

stamp=node_modules/.knotless-lock
if ! cmp -s package-lock.json "$stamp" 2>/dev/null; then
  say 'Installing dependencies …'
  # Nothing here is built on the machine: what is native comes built inside its package.
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  cp package-lock.json "$stamp"
fi

export NODE_NO_WARNINGS=1
# Look-ups of names that nobody answers for hold a thread for many seconds each, and files and good names wait for the same few.
export UV_THREADPOOL_SIZE="${UV_THREADPOOL_SIZE:-16}"
flags=
case ${1:-} in
  # Little room for young objects, and old ones collected before much is added: measured no slower, and a server keeps half the memory.
  src/cli/*) flags='--max-semi-space-size=4 --heap-growing-percent=20' ;;
esac
# shellcheck disable=SC2086
exec "$node" $flags "$@"
