#!/usr/bin/env bash
# `zarr migrate v3` leaves the dimensions of xarray without names.
#
# In v2 xarray keeps them in the attribute `_ARRAY_DIMENSIONS`; in v3 they have a field of their own. The
# command carries the attribute and does not fill the field, so that xarray refuses the group it could open
# before.
#
# Versions: zarr 3.4.2, xarray 2026.9.0
# Source:   met when stores that are migrated in place were tried; no thread known
# Expected output:
#
#   {'_ARRAY_DIMENSIONS': ['y', 'x']} None
#   KeyError Zarr object is missing the `dimension_names` metadata
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'zarr[cli]==3.4.2' xarray==2026.9.0
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json
import subprocess

import xarray as xr

xr.Dataset({"t": (("y", "x"), [[1.0, 2.0]])}).to_zarr("a.zarr", zarr_format=2, consolidated=False)
subprocess.run(["venv/bin/zarr", "migrate", "v3", "a.zarr"], check=True, capture_output=True)
with open("a.zarr/t/zarr.json") as opened:
    document = json.load(opened)
print(document["attributes"], document.get("dimension_names"))
try:
    print(xr.open_zarr("a.zarr", zarr_format=3, consolidated=False).sizes)
except KeyError as error:
    print("KeyError", error.args[0].split(" which")[0])
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: `zarr migrate v3` leaves the dimensions of xarray without names. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
