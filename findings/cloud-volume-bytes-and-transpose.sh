#!/usr/bin/env bash
# CloudVolume reads Zarr v3 of two codecs of the specification with other elements.
#
# It does not look at the `endian` of the codec `bytes`: big-endian elements are taken for little-endian ones. Where there is
# the codec `transpose` it no longer takes the axes of the volume for z, y and x, though that is what the array has after the
# codec, whatever the order: even with the order [0, 1, 2], which changes nothing, elements are at other places. Neither is
# an error as long as the chunks are cubes.
#
# Versions: cloud-volume 12.15.2, blosc 1.11.4, zarr 3.4.2, tensorstore 0.1.86
# Source:   met when OME-Zarr images of all byte orders and orders of axes were crossed with readers; no thread known
# Expected output:
#
#   little endian, order None: TensorStore equal CloudVolume equal
#   big endian, order None: TensorStore equal CloudVolume other elements
#   little endian, order [0, 1, 2]: TensorStore equal CloudVolume the same elements at other places
#   little endian, order [0, 2, 1]: TensorStore equal CloudVolume the same elements at other places
#   little endian, order [2, 1, 0]: TensorStore equal CloudVolume the same elements at other places
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'cloud-volume[zarr]==12.15.2' blosc==1.11.4 zarr==3.4.2 tensorstore==0.1.86
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import os

import numpy as np
import tensorstore
import zarr
from cloudvolume import CloudVolume
from zarr.codecs import BytesCodec, TransposeCodec

elements = np.arange(8 * 8 * 12, dtype="u2").reshape(8, 8, 12)
axes = [{"name": name, "type": "space", "unit": "nanometer"} for name in "zyx"]
scale = {"type": "scale", "scale": [40, 4, 4]}
image = {"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": [scale]}]}


def write(path, endian, order):
    group = zarr.open_group(path, mode="w", zarr_format=3)
    group.attrs["ome"] = {"version": "0.5", "multiscales": [image]}
    told = {"shape": elements.shape, "chunks": (4, 4, 4), "dtype": "u2", "dimension_names": list("zyx"), "fill_value": 0}
    filters = [TransposeCodec(order=order)] if order else []
    array = group.create_array("0", filters=filters, serializer=BytesCodec(endian=endian), compressors=None, **told)
    array[...] = elements


def compared(found):
    if np.array_equal(found, elements):
        return "equal"
    same = np.array_equal(np.sort(found, axis=None), np.sort(elements, axis=None))
    return "the same elements at other places" if same else "other elements"


def by_tensorstore(path):
    return tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": path + "/0/"}}).result().read().result()


def by_cloud_volume(path):
    return np.asarray(CloudVolume(f"zarr3://file://{os.path.abspath(path)}", progress=False)[:, :, :])[..., 0].T


for number, (endian, order) in enumerate(
    [("little", None), ("big", None), ("little", (0, 1, 2)), ("little", (0, 2, 1)), ("little", (2, 1, 0))]
):
    path = f"{number}.zarr"
    write(path, endian, order)
    print(endian, "endian, order", order and list(order), end=": ")
    print("TensorStore", compared(by_tensorstore(path)), "CloudVolume", compared(by_cloud_volume(path)))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: CloudVolume reads Zarr v3 of two codecs with other elements. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
