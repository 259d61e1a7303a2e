#!/bin/sh
# Installs the emulators of object stores that need npm (package.json) into tests/emulators/node_modules. The others are
# in the Python environment of tests/oracle/setup.sh. Does nothing where they stand and the lock file has not changed.
set -eu
cd "$(dirname "$0")"

if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
    echo "SKIPPED: there is no npm with node here: nothing will be tested against Azure's emulator" >&2
    exit 0
fi
node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' || {
    echo "Azure's emulator needs Node.js 20 or newer; this is $(node --version). RECHUNK_SKIP_EMULATORS=1 goes without" >&2
    exit 1
}

stamp=$({ cat package-lock.json; node --version; } | node -e \
    'process.stdin.pipe(require("crypto").createHash("sha256").setEncoding("hex")).pipe(process.stdout)')
if [ -f node_modules/stamp ] && [ "$(cat node_modules/stamp)" = "$stamp" ]; then
    echo "emulators: up to date"
    exit 0
fi
echo "emulators: setting up tests/emulators/node_modules"
npm ci --silent --ignore-scripts --no-audit --no-fund || {
    echo "npm cannot install Azure's emulator: see above. RECHUNK_SKIP_EMULATORS=1 goes without" >&2
    exit 1
}
echo "$stamp" >node_modules/stamp # last, so that a broken set-up is done again
