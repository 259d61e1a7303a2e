#!/usr/bin/env bash
# numcodecs and zarr-python cannot be imported where the newest zfpy is installed.
#
# numcodecs splits the version of zfpy at its dots and takes each part for an integer. The newest
# release of zfpy is 1.0.1.post0, a post-release as Python's packaging has them: the part `post0`
# raises a ValueError, and only an ImportError is expected there. It is not the codec alone that is
# missing: no codec can be used, and zarr-python stops with the same error. numcodecs' own extra
# `numcodecs[zfpy]` asks for zfpy>=1.0.0, which installs just this release. Without zfpy all is
# well. numpy's version is taken apart the same way.
#
# What was run: the extra was installed and both modules imported; then zfpy was removed and they
# were imported again.
#
# Versions: numcodecs 0.17.1, zarr 3.4.2, numpy 2.5.5, zfpy 1.0.1.post0
# Source:   numcodecs/zfpy.py (`_zfpy_version`) and numcodecs/__init__.py
#           (`suppress(ImportError)`), in zarr-developers/numcodecs; versions of Python packages,
#           "Post-releases",
#           https://packaging.python.org/en/latest/specifications/version-specifiers/; no thread
#           known
# Expected output:
#
#   with zfpy, import numcodecs: ValueError: invalid literal for int() with base 10: 'post0'
#   with zfpy, import zarr: ValueError: invalid literal for int() with base 10: 'post0'
#   without zfpy, import numcodecs: works
#   without zfpy, import zarr: works
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    'numcodecs[zfpy]==0.17.1' zarr==3.4.2 numpy==2.5.5 zfpy==1.0.1.post0
cd "$folder"

seen=$(for step in with without; do
    [ "$step" = with ] || venv/bin/pip uninstall --quiet --yes zfpy
    for name in numcodecs zarr; do
        printf '%s zfpy, import %s: ' "$step" "$name"
        venv/bin/python -W ignore -c "import $name" 2>errors && echo works || tail -n 1 errors
    done
done
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: numcodecs is not imported beside zfpy. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
