#!/usr/bin/env bash
# netCDF-C fills what is not stored of a big-endian Zarr array with another number.
#
# The fill value of `.zarray` is a number, whatever the byte order of the elements. Where a chunk is absent, netCDF-C turns
# the bytes of the fill value round, as it has to with elements that were read. It does so with what it has written itself,
# too: what is masked in the same variable in HDF5 is a number here. Chunks that are stored are right.
#
# Versions: netCDF4 1.7.5.1.post1 (netCDF-C 4.10.1), zarr 3.4.2
# Source:   met when arrays of both byte orders with absent chunks were crossed with readers; no thread known
# Expected output:
#
#   little by zarr-python: itself [1, 2, 300, 300] netCDF-C [1, 2, 300, 300]
#   little by netCDF-C: HDF5 [1, 2, None, None]
#   little by netCDF-C: NCZarr [1, 2, None, None]
#   big by zarr-python: itself [1, 2, 300, 300] netCDF-C [1, 2, 738263040, 738263040]
#   big by netCDF-C: HDF5 [1, 2, None, None]
#   big by netCDF-C: NCZarr [1, 2, 738263040, 738263040]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check netCDF4==1.7.5.1.post1 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import os

import netCDF4
import zarr


def place(name, mode):
    return f"file://{os.getcwd()}/{name}#mode={mode},file"


def read(where):
    with netCDF4.Dataset(where) as dataset:
        return dataset["t"][:].tolist()


for order in "<>":
    name = {"<": "little", ">": "big"}[order]
    group = zarr.open_group(f"{name}.zarr", mode="w", zarr_format=2)
    array = group.create_array("t", shape=(4,), chunks=(2,), dtype=f"{order}i4", fill_value=300)
    array.attrs["_ARRAY_DIMENSIONS"] = ["x"]
    array[:2] = [1, 2]
    print(name, "by zarr-python:", "itself", array[:].tolist(), "netCDF-C", read(place(f"{name}.zarr", "zarr")))
    for where in [f"{name}.nc", place(f"{name}.own", "nczarr")]:
        with netCDF4.Dataset(where, "w") as dataset:
            dataset.createDimension("x", 4)
            told = {"endian": name, "fill_value": 300, "chunksizes": (2,)}
            dataset.createVariable("t", "i4", ("x",), **told)[:2] = [1, 2]
        print(name, "by netCDF-C:", "NCZarr" if "nczarr" in where else "HDF5", read(where))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: netCDF-C fills big-endian arrays of Zarr with another number. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
