#!/usr/bin/env bash
# virtual-tiff reads big-endian floats that were stored with a predictor as other numbers.
#
# Predictor 3 sorts the bytes of a row by their significance, whatever the byte order of the file. virtual-tiff tells the
# codec of the predictor that elements are little-endian, and the codec of the bytes that they are big-endian. Without the
# predictor both byte orders are right, and the documentation lists both as supported. There is no error.
#
# Versions: virtual-tiff 0.5.0, imagecodecs 2026.10.10, tifffile 2026.11.8, rasterio 1.5.2 (GDAL 3.12.2), zarr 3.4.2
# Source:   met when TIFF files of all predictors were referred to; the like was reported of others (geotiff.js#550)
# Expected output:
#
#   float32 little-endian predictor 1 GDAL equal virtual-tiff equal
#   float32 little-endian predictor 3 GDAL equal virtual-tiff equal
#   float32 big-endian predictor 1 GDAL equal virtual-tiff equal
#   float32 big-endian predictor 3 GDAL equal virtual-tiff 1.69e-38 for -3
#   float64 little-endian predictor 1 GDAL equal virtual-tiff equal
#   float64 little-endian predictor 3 GDAL equal virtual-tiff equal
#   float64 big-endian predictor 1 GDAL equal virtual-tiff equal
#   float64 big-endian predictor 3 GDAL equal virtual-tiff 4.41e-305 for -3
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check virtual-tiff==0.5.0 imagecodecs==2026.10.10 tifffile==2026.11.8 \
    rasterio==1.5.2 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import os

import numpy as np
import rasterio
import tifffile
import zarr
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtual_tiff import VirtualTIFF

elements = np.arange(32 * 32).reshape(32, 32) / 8 - 3


def by_gdal(path):
    with rasterio.open(path) as raster:
        return raster.read(1)


def by_virtual_tiff(path):
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    store = VirtualTIFF(ifd=0)(url=f"file://{os.path.abspath(path)}", registry=registry)
    return zarr.open_group(store, mode="r")["0"][...]


def compared(found):
    return "equal" if np.array_equal(found, elements) else f"{found[0, 0]:.3g} for {elements[0, 0]:.3g}"


for dtype in ["float32", "float64"]:
    for order in "<>":
        for predictor in [1, 3]:
            told = {"byteorder": order, "predictor": predictor, "compression": "deflate", "tile": (16, 16)}
            tifffile.imwrite("a.tif", elements.astype(dtype), **told)
            name = {"<": "little-endian", ">": "big-endian"}[order]
            print(dtype, name, "predictor", predictor, end=" ")
            print("GDAL", compared(by_gdal("a.tif")), "virtual-tiff", compared(by_virtual_tiff("a.tif")))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: virtual-tiff reads big-endian floats with a predictor as other numbers. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
