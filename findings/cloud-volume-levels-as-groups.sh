#!/usr/bin/env bash
# CloudVolume writes the levels of a Zarr v3 volume as groups, and other readers find no array.
#
# A level has all that an array has, its shape, its codecs and its chunks, but its `node_type` is that of the group above it,
# of which the document is a copy. CloudVolume does not look and reads it again; zarr-python and TensorStore refuse it, and
# with them all that go by them. With "array" in this one place zarr-python reads what was written.
#
# Versions: cloud-volume 12.15.2, blosc 1.11.4, zarr 3.4.2, tensorstore 0.1.86
# Source:   met when volumes of CloudVolume were crossed with other readers; no thread known
# Expected output:
#
#   group [5, 7, 10]
#   CloudVolume True
#   zarr-python expected Literal['array'], got 'group'.
#   TensorStore Expected "array", but received: "group"
#   corrected, zarr-python True
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
import json
import os

import numpy as np
import tensorstore
import zarr
from cloudvolume import CloudVolume

elements = np.arange(10 * 7 * 5, dtype="u2").reshape(10, 7, 5, 1)
place = f"zarr3://file://{os.path.abspath('a.zarr')}"
info = CloudVolume.create_new_info(
    num_channels=1, layer_type="image", data_type="uint16", encoding="raw", resolution=[4, 5, 40],
    voxel_offset=[0, 0, 0], volume_size=[10, 7, 5], chunk_size=[4, 3, 2],
)
volume = CloudVolume(place, info=info, progress=False)
volume.commit_info()
volume[0:10, 0:7, 0:5] = elements
with open("a.zarr/0/zarr.json") as opened:
    document = json.load(opened)
print(document["node_type"], document["shape"])
print("CloudVolume", np.array_equal(CloudVolume(place, progress=False)[0:10, 0:7, 0:5], elements))
try:
    zarr.open_array("a.zarr/0", mode="r")
except ValueError as error:
    print("zarr-python", str(error).split(": ")[1])
try:
    tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": "a.zarr/0/"}}).result()
except ValueError as error:
    message = str(error)
    print("TensorStore", message[message.index("Expected") : message.index(" [")])
with open("a.zarr/0/zarr.json", "w") as opened:
    json.dump({**document, "node_type": "array"}, opened)
print("corrected, zarr-python", np.array_equal(zarr.open_array("a.zarr/0", mode="r")[...].T, elements[..., 0]))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: CloudVolume writes the levels of a Zarr v3 volume as groups. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
