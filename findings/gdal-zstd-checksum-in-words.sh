#!/usr/bin/env bash
# GDAL writes the checksum of zstd as a word into Zarr v2.
#
# The creation options of its codecs are words, and the one of zstd goes into `.zarray` as it is: "NO", where
# numcodecs has false. A reader that takes any text for true, or that refuses it, differs from one that takes it
# for what it says; zarr-python opens the array because it does not look.
#
# Versions: rasterio 1.5.2 (GDAL 3.12.2), zarr 3.4.2
# Source:   found when rechunk was crossed with its peers (tests/oracle/crossings); no thread known
# Expected output:
#
#   {'id': 'zstd', 'level': 13, 'checksum': 'NO'}
#   True
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
told = {"FORMAT": "ZARR_V2", "COMPRESS": "ZSTD"}
with rasterio.open("a.zarr", "w", driver="Zarr", width=16, height=16, count=1, dtype="uint16", **told) as raster:
    raster.write(elements, 1)
with open("a.zarr/a/.zarray") as opened:
    print(json.load(opened)["compressor"])
print((zarr.open_array("a.zarr/a", mode="r")[...] == elements).all())
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: GDAL writes the checksum of zstd as a word into Zarr v2. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
