#!/usr/bin/env bash
# z5py fills absent chunks of 64-bit integers with another number.
#
# The fill value passes through a double, where it is read and where it is written. Beyond 2^53 it is rounded, and where that
# is beyond the type's range it is another number altogether: 0 for the largest uint64, which marks what is unknown in many
# label images. Of its own array, z5py writes this fill value as 1.8446744073709552e+19, which zarr-python does not read.
#
# Versions: z5py 3.0.2, zarr 3.4.2
# Source:   met when fill values of all types were crossed with readers; no thread known
# Expected output:
#
#   v2 int64 zarr-python [7, 9007199254740992] z5py [7, 9007199254740992]
#   v2 int64 zarr-python [7, 9007199254740993] z5py [7, 9007199254740992]
#   v2 int64 zarr-python [7, 9223372036854775807] z5py [7, -9223372036854775808]
#   v2 uint64 zarr-python [7, 18446744073709551615] z5py [7, 0]
#   v3 int64 zarr-python [7, 9007199254740992] z5py [7, 9007199254740992]
#   v3 int64 zarr-python [7, 9007199254740993] z5py [7, 9007199254740992]
#   v3 int64 zarr-python [7, 9223372036854775807] z5py [7, -9223372036854775808]
#   v3 uint64 zarr-python [7, 18446744073709551615] z5py [7, 0]
#   z5py of its own [7, 0]
#   fill_value 1.8446744073709552e+19
#   zarr-python OverflowError
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check z5py==3.0.2 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json

import z5py
import zarr

for zarr_format in [2, 3]:
    group = zarr.open_group(f"{zarr_format}.zarr", mode="w", zarr_format=zarr_format)
    opened = z5py.File(f"{zarr_format}.zarr", mode="r", use_zarr_format=True)
    for dtype, fill in [("int64", 2**53), ("int64", 2**53 + 1), ("int64", 2**63 - 1), ("uint64", 2**64 - 1)]:
        name = f"{dtype}-{fill}"
        array = group.create_array(name, shape=(2,), chunks=(1,), dtype=dtype, fill_value=fill)
        array[:1] = 7
        print(f"v{zarr_format}", dtype, "zarr-python", array[:].tolist(), "z5py", opened[name][:].tolist())

with z5py.File("own.zarr", mode="w", use_zarr_format=True) as file:
    told = {"shape": (2,), "chunks": (1,), "dtype": "uint64", "compression": "raw"}
    dataset = file.create_dataset("a", fillvalue=2**64 - 1, **told)
    dataset[:1] = 7
    print("z5py of its own", dataset[:].tolist())
with open("own.zarr/a/.zarray") as opened:
    print("fill_value", json.load(opened)["fill_value"])
try:
    print("zarr-python", zarr.open_array("own.zarr/a", mode="r")[:].tolist())
except Exception as error:
    print("zarr-python", type(error).__name__)
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: z5py fills absent chunks of 64-bit integers with another number. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
