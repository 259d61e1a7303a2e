#!/usr/bin/env bash
# CloudVolume reads a precomputed volume of two or three channels in PNG with the elements in another order.
#
# It writes such chunks as the format has them, with the channels of a voxel beside each other in the image: TensorStore reads
# what it wrote. Read back by itself, elements of the channels are exchanged, without an error: all are there, and most are at
# another place. One channel is right. With 16 bits a volume that TensorStore wrote is refused.
#
# Versions: cloud-volume 12.15.2, pyspng-seunglab 1.1.3, tensorstore 0.1.86
# Source:   met when volumes of all encodings were crossed with both libraries; no thread known
# Expected output:
#
#   1 channel: CloudVolume reads equal, TensorStore reads equal
#   2 channels: CloudVolume reads the same elements in another order, TensorStore reads equal
#   3 channels: CloudVolume reads the same elements in another order, TensorStore reads equal
#   16 bits, by TensorStore: CloudVolume ValueError
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check cloud-volume==12.15.2 pyspng-seunglab==1.1.3 tensorstore==0.1.86
cd "$folder"

seen=$(venv/bin/python -W ignore - 2>/dev/null <<'PROGRAM'
import contextlib
import io
import os

import numpy as np
import tensorstore
from cloudvolume import CloudVolume


def volume(name, channels):
    info = CloudVolume.create_new_info(
        num_channels=channels, layer_type="image", data_type="uint8", encoding="png", resolution=[4, 4, 40],
        voxel_offset=[0, 0, 0], volume_size=[16, 16, 8], chunk_size=[16, 16, 8],
    )
    # Without gzip around the chunks, whose names TensorStore would not look for.
    volume = CloudVolume(f"file://{os.path.abspath(name)}", info=info, progress=False, compress=False)
    volume.commit_info()
    return volume


def compared(found, written):
    if np.array_equal(found, written):
        return "equal"
    same = np.array_equal(np.sort(found, axis=None), np.sort(written, axis=None))
    return "the same elements in another order" if same else "other elements"


def by_tensorstore(name, **more):
    place = {"driver": "file", "path": f"{os.path.abspath(name)}/"}
    return tensorstore.open({"driver": "neuroglancer_precomputed", "kvstore": place, **more}, **({"create": True} if more else {})).result()


for channels in (1, 2, 3):
    written = np.random.default_rng(1).integers(0, 256, (16, 16, 8, channels), dtype="u1")
    own = volume(f"v{channels}", channels)
    own[0:16, 0:16, 0:8] = written
    found = compared(np.asarray(own[0:16, 0:16, 0:8]), written)
    other = compared(np.asarray(by_tensorstore(f"v{channels}").read().result()), written)
    print(f"{channels} channel{'s' * (channels > 1)}: CloudVolume reads {found}, TensorStore reads {other}")

scale = {"size": [16, 16, 8], "encoding": "png", "chunk_size": [16, 16, 8], "resolution": [4, 4, 40], "key": "s0"}
whole = {"type": "image", "data_type": "uint16", "num_channels": 1}
by_tensorstore("w", multiscale_metadata=whole, scale_metadata=scale)[...] = np.arange(2048, dtype="u2").reshape(16, 16, 8, 1)
try:
    with contextlib.redirect_stdout(io.StringIO()):  # it prints the error, too
        CloudVolume(f"file://{os.path.abspath('w')}", progress=False)[0:16, 0:16, 0:8]
    print("16 bits, by TensorStore: CloudVolume reads it")
except Exception as error:
    print("16 bits, by TensorStore: CloudVolume", type(error).__name__)
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: CloudVolume reads channels of PNG in another order. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
