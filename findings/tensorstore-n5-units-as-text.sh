#!/usr/bin/env bash
# TensorStore does not open an N5 dataset whose attribute `units` is a text.
#
# N5 says nothing of `units`: the attributes of a dataset are its users'. TensorStore reads a list of one unit
# for each axis there, and refuses the dataset where there is something else. So an array of CF ("units": "K")
# that is written as N5 with its attributes cannot be opened by it.
#
# Versions: tensorstore 0.1.86, z5py 3.0.2
# Source:   met when arrays with CF attributes were copied to N5; no thread known
# Expected output:
#
#   z5py 12
#   tensorstore Error parsing object member "units": Expected array, but received: "K"
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tensorstore==0.1.86 z5py==3.0.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import numpy as np
import tensorstore
import z5py

with z5py.File("a.n5", "w") as file:
    dataset = file.create_dataset("t", data=np.ones((3, 4), "u1"), chunks=(3, 4), compression="raw")
    dataset.attrs["units"] = "K"
print("z5py", z5py.File("a.n5", "r")["t"][...].sum())
try:
    tensorstore.open({"driver": "n5", "kvstore": {"driver": "file", "path": "a.n5/t/"}}).result()
except ValueError as error:
    message = str(error)
    print("tensorstore", message[message.index("Error parsing") : message.index(" [")])
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: TensorStore does not open an N5 dataset whose attribute `units` is a text. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
