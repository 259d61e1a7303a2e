#!/bin/sh
# Makes oracle environments at the repository's root: .venv-oracle-z3 and .venv-oracle-z2, or those
# that are named (`setup.sh zfp` makes .venv-oracle-zfp, which only a build with zfp is tested with).
# Does nothing where they stand and their requirements have not changed.
set -eu
cd "$(dirname "$0")/../.."
PYTHON="${PYTHON:-python3}"

"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "the oracles need Python 3.11 or newer; $PYTHON is $("$PYTHON" -V 2>&1). Name another: PYTHON=python3.12 $0" >&2
    exit 1
}

# A digest of what the environment was made from: the requirements and the interpreter.
stamp_of() {
    { cat "$1"; "$PYTHON" -V; } | "$PYTHON" -c \
        'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())'
}

for world in ${*:-z3 z2}; do
    requirements="tests/oracle/requirements-$world.txt"
    venv=".venv-oracle-$world"
    stamp=$(stamp_of "$requirements")
    if [ -f "$venv/stamp" ] && [ "$(cat "$venv/stamp")" = "$stamp" ]; then
        echo "oracle $world: up to date"
        continue
    fi
    echo "oracle $world: setting up $venv"
    rm -rf "$venv"
    "$PYTHON" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
    echo "$stamp" >"$venv/stamp" # last, so that a broken set-up is done again
done
