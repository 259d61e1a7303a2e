#!/usr/bin/env bash
# GDAL writes integers of Zarr v3 without a fill value, and zarr-python does not open them.
#
# A raster without a nodata value gets `"fill_value": null`. Zarr v2 allows that; in v3 each data type says what
# its fill values are, and null is none of the integers'. GDAL itself reads the array again.
#
# Versions: rasterio 1.5.2 (GDAL 3.12.2), zarr 3.4.2
# Source:   found when rechunk was crossed with its peers (tests/oracle/crossings); no thread known
# Expected output:
#
#   None
#   GDAL True
#   zarr-python Invalid type: None. Expected an integer.
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check rasterio==1.5.2 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json

import numpy as np
import rasterio
import zarr

elements = np.arange(256, dtype="u2").reshape(16, 16)
options = {"driver": "Zarr", "FORMAT": "ZARR_V3", "width": 16, "height": 16, "count": 1, "dtype": "uint16"}
with rasterio.open("a.zarr", "w", **options) as raster:
    raster.write(elements, 1)
with open("a.zarr/a/zarr.json") as opened:
    print(json.load(opened)["fill_value"])
with rasterio.open("a.zarr") as raster:
    print("GDAL", (raster.read(1) == elements).all())
try:
    zarr.open_array("a.zarr/a", mode="r")
except TypeError as error:
    print("zarr-python", error)
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: GDAL writes integers of Zarr v3 without a fill value, and zarr-python does not open them. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
