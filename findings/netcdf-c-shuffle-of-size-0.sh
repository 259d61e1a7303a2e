#!/usr/bin/env bash
# zarr-python reads other numbers than netCDF-C has written with its shuffle.
#
# netCDF-C's NCZarr writes the filter as {"id": "shuffle", "elementsize": 0} and shuffles by the size of the
# type, as HDF5 does. numcodecs takes 0 for no shuffle at all. netCDF4-python shuffles whenever it compresses
# with zlib, so this is what it writes by default; zarr-python, and with it xarray, reads such an array without
# a word.
#
# Versions: netCDF4 1.7.5.1.post1 (netCDF-C 4.10.1), zarr 3.4.2, numcodecs 0.17.1
# Source:   found when rechunk was crossed with its peers (tests/oracle/crossings); no thread known
# Expected output:
#
#   [{'id': 'shuffle', 'elementsize': 0}]
#   netCDF-C [0, 1, 2, 3, 4, 5]
#   zarr-python [256, 770, 1284, 0, 0, 0]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check netCDF4==1.7.5.1.post1 zarr==3.4.2 numcodecs==0.17.1
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json
import os

import netCDF4
import numpy as np
import zarr

place = f"file://{os.getcwd()}/a.zarr#mode=nczarr,file"
with netCDF4.Dataset(place, "w") as dataset:
    dataset.createDimension("x", 6)
    dataset.createVariable("t", "i2", ("x",), compression="zlib")[:] = np.arange(6)
with open("a.zarr/t/.zarray") as opened:
    print(json.load(opened)["filters"])
with netCDF4.Dataset(place) as dataset:
    print("netCDF-C", dataset["t"][:].tolist())
print("zarr-python", zarr.open_array("a.zarr/t", mode="r")[:].tolist())
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarr-python reads other numbers than netCDF-C has written with its shuffle. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
