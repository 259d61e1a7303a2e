#!/usr/bin/env bash
# zfpc and CloudVolume return float64, int32 and int64 as float32, though the compression is
# lossless.
#
# The documentation takes "float or int, 32 or 64-bit" and says that compression is lossless by
# default. The stream is: its header has the right type, and zfpy reads each of its parts exactly.
# `decompress` puts them into an array of float32 whatever the header says. 64 bits become
# infinite, zero or other numbers, integers above 2^24 other integers. CloudVolume with the
# encoding `zfpc` casts back to the type of the volume, so that the type is right and the numbers
# are not.
#
# Versions: zfpc 0.1.2, zfpy 1.0.1.post0, cloud-volume 12.15.2, numpy 2.5.5
# Source: met when all data types went through the codecs of precomputed volumes; no thread known;
# `decompress` in zfpc/__init__.py of seung-lab/zfpc, cloudvolume/chunks.py of
# seung-lab/cloud-volume
# Expected output:
#
#   float32 header float32, zfpy equal True, zfpc float32 0.1 for 0.1
#   float64 header float64, zfpy equal True, zfpc float32 inf for 1e+300
#   int32 header int32, zfpy equal True, zfpc float32 1.6777216e+07 for 16777217
#   int64 header int64, zfpy equal True, zfpc float32 9.007199e+15 for 9007199254740993
#   CloudVolume float64 0.10000000149011612 for 0.1
#   CloudVolume int32 16777216 for 16777217
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check zfpc==0.1.2 zfpy==1.0.1.post0 cloud-volume==12.15.2 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import os
import tempfile

import numpy as np
import zfpc
import zfpy
from cloudvolume import CloudVolume

for elements in (
    np.array([0.1, 0.5], "float32"), np.array([1e300, 1e-300, 0.1]),
    np.array([2**24 + 1, 7], "int32"), np.array([2**53 + 1, 7], "int64"),
):
    stream = zfpc.compress(elements)
    header = zfpc.ZfpcHeader.frombytes(stream)
    (part,) = zfpc.disassemble_container(header, stream)
    print(elements.dtype, "header", np.dtype(header.data_type), end=", ")
    print("zfpy equal", np.array_equal(zfpy.decompress_numpy(part).ravel(), elements), end=", ")
    found = zfpc.decompress(stream)
    print("zfpc", found.dtype, found[0], "for", elements[0])
for elements in (np.full((8, 8, 8, 1), 0.1), np.full((8, 8, 8, 1), 2**24 + 1, "int32")):
    info = CloudVolume.create_new_info(
        num_channels=1, layer_type="image", data_type=str(elements.dtype), encoding="zfpc", resolution=[1, 1, 1],
        voxel_offset=[0, 0, 0], volume_size=[8, 8, 8], chunk_size=[8, 8, 8],
    )
    volume = CloudVolume("file://" + os.path.join(tempfile.mkdtemp(), "v"), info=info, progress=False)
    volume.commit_info()
    volume[:, :, :] = elements
    found = np.asarray(volume[:, :, :])
    print("CloudVolume", found.dtype, found.ravel()[0], "for", elements.ravel()[0])
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zfpc returns everything as float32. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
