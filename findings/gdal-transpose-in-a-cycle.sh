#!/usr/bin/env bash
# GDAL reads an array of Zarr v3 whose axes are stored in a cycle with the elements at other places.
#
# The codec `transpose` says which axis of the array each stored axis is: with `order` [1, 2, 0] the stored axis 0 is axis 1
# of the array. GDAL reads it the other way round. That is the same where two axes are exchanged or all are reversed, which
# is all that GDAL writes and all that two axes allow; with a cycle of three the elements are exchanged, without an error.
#
# Versions: rasterio 1.5.2 (GDAL 3.12.2), zarr 3.4.2, tensorstore 0.1.86
# Source:   met when arrays of all orders of three axes were crossed with readers; no thread known
# Expected output:
#
#   0 1 2 TensorStore equal GDAL equal
#   0 2 1 TensorStore equal GDAL equal
#   1 0 2 TensorStore equal GDAL equal
#   1 2 0 TensorStore equal GDAL the same elements at other places
#   2 0 1 TensorStore equal GDAL the same elements at other places
#   2 1 0 TensorStore equal GDAL equal
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check rasterio==1.5.2 zarr==3.4.2 tensorstore==0.1.86
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import itertools

import numpy as np
import rasterio
import tensorstore
import zarr
from zarr.codecs import TransposeCodec

elements = np.arange(4 * 6 * 8, dtype="u2").reshape(4, 6, 8)


def compared(found):
    if np.array_equal(found, elements):
        return "equal"
    same = np.array_equal(np.sort(found, axis=None), np.sort(elements, axis=None))
    return "the same elements at other places" if same else "other elements"


def by_gdal(path):
    planes = []
    for plane in range(4):
        with rasterio.open(f'ZARR:"{path}":/{path}:{plane}') as raster:
            planes.append(raster.read(1))
    return np.stack(planes)


def by_tensorstore(path):
    return tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": path + "/"}}).result().read().result()


for order in itertools.permutations(range(3)):
    path = "a" + "".join(map(str, order))
    told = {"shape": (4, 6, 8), "chunks": (2, 3, 4), "dtype": "u2", "fill_value": 0}
    zarr.create_array(path, filters=[TransposeCodec(order=order)], compressors=None, **told)[...] = elements
    print(*order, "TensorStore", compared(by_tensorstore(path)), "GDAL", compared(by_gdal(path)))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: GDAL reads axes in a cycle at other places. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
