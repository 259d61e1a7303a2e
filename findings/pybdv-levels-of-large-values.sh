#!/usr/bin/env bash
# pybdv makes the lower levels of a BigDataViewer file in HDF5 of signed numbers, and with N5 of unsigned ones.
#
# Elements of 16 bits are stored as signed integers, which BigDataViewer reads as unsigned ones: 40000 is there as -25536. pybdv
# does so, too, and level 0 is right. The levels below are computed from what is stored: the maximum of 1000 and 40000 is 1000,
# and their mean is 53268, which is above both. The same image in N5 has the right levels.
#
# Versions: pybdv 0.6.0, h5py 3.16.0, z5py 3.0.2, scikit-image 0.26.0
# Source:   met when pyramids of several writers were compared; pybdv#8, of negative numbers in HDF5, is open
# Expected output:
#
#   mean .n5 stored uint16 level 0 [1000, 40000] level 1 [20500]
#   mean .h5 stored int16 level 0 [1000, 40000] level 1 [53268]
#   max .n5 stored uint16 level 0 [1000, 40000] level 1 [40000]
#   max .h5 stored int16 level 0 [1000, 40000] level 1 [1000]
#   min .n5 stored uint16 level 0 [1000, 40000] level 1 [1000]
#   min .h5 stored int16 level 0 [1000, 40000] level 1 [40000]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pybdv==0.6.0 h5py==3.16.0 z5py==3.0.2 scikit-image==0.26.0
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import contextlib
import io

import h5py
import numpy as np
import z5py
from pybdv import make_bdv

elements = np.full((8, 8, 8), 1000, dtype="u2")
elements[::2] = 40000


def levels(path):
    if path.endswith(".n5"):
        with z5py.File(path, "r") as file:
            return [file[f"setup0/timepoint0/s{level}"][:] for level in range(2)]
    with h5py.File(path, "r") as file:
        return [file[f"t00000/s00/{level}/cells"][:] for level in range(2)]


for mode in ["mean", "max", "min"]:
    for end in [".n5", ".h5"]:
        path = f"{mode}-in-{end[1:]}{end}"
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            make_bdv(elements, path, downscale_factors=[[2, 2, 2]], downscale_mode=mode)
        full, half = levels(path)
        as_shown = [np.unique(level.view("u2")).tolist() for level in [full, half]]
        print(mode, end, "stored", full.dtype, "level 0", as_shown[0], "level 1", as_shown[1])
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: pybdv makes lower levels in HDF5 of signed numbers. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
