#!/usr/bin/env bash
# Makes the environment in which the Python package is tested: .venv-python at the root. Does nothing where it stands and its
# requirements have not changed.
#
#   PYTHON    the Python it is made of [python3], 3.11 or newer
set -euo pipefail
cd "$(dirname "$0")/../../.."
PYTHON="${PYTHON:-python3}"
venv=.venv-python
requirements=crates/rechunk-python/tests/requirements.txt
stamp=$({ cat "$requirements"; "$PYTHON" --version; } | sha256sum)
[ ! -f "$venv/stamp" ] || [ "$(cat "$venv/stamp")" != "$stamp" ] || exit 0
rm -rf "$venv"
"$PYTHON" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
echo "$stamp" >"$venv/stamp" # last, so that a broken set-up is done again
