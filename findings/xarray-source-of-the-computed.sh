#!/usr/bin/env bash
# xarray names the store of an opened data set as the source of what was computed from it.
#
# `encoding["source"]` of a data set says which store it was opened from. It stays there when a variable is assigned,
# a step is selected, or all is multiplied: a tool that goes by it, to copy chunks instead of elements, copies
# something else than the data set holds.
#
# Versions: xarray 2026.9.0, zarr 3.4.2
# Source:   met when a data set was to be copied by its store; no thread known
# Expected output:
#
#   as opened a.zarr [0.0, 1.0, 2.0, 3.0]
#   one step a.zarr [0.0]
#   assigned a.zarr [0.0, 2.0, 4.0, 6.0]
#   doubled a.zarr [0.0, 2.0, 4.0, 6.0]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check xarray==2026.9.0 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import numpy as np
import xarray as xr

xr.Dataset({"t": ("x", np.arange(4.0))}).to_zarr("a.zarr", zarr_format=3, consolidated=False)
opened = xr.open_zarr("a.zarr", consolidated=False, chunks=None)
for name, made in {
    "as opened": opened,
    "one step": opened.isel(x=[0]),
    "assigned": opened.assign(t=opened.t * 2),
    "doubled": opened * 2,
}.items():
    print(name, made.encoding["source"].split("/")[-1], made.t.values.tolist())
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: xarray names the store of an opened data set as the source of what was computed from it. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
