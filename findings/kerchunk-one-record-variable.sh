#!/usr/bin/env bash
# kerchunk finds more records in a netCDF-3 file with one record variable than there are.
#
# Records are padded to a multiple of four bytes, but not where there is a single record variable: the format's specification
# has a note on it. kerchunk counts the bytes with the padding and divides by the bytes without it: of ten records of three
# shorts it makes 13. The references of the last three are behind the end of the file. With a second record variable, such
# as `time`, or records that need no padding, the number is right, and so are always the elements of the ten records.
#
# Versions: kerchunk 0.2.10, netCDF4 1.7.5.1.post1 (netCDF-C 4.10.1), scipy 1.18.1
# Source:   met when files of few records were referred to; kerchunk#365, of padding with more variables, is closed
# Expected output:
#
#   3 shorts: netCDF-C 10 SciPy 10 kerchunk 13 file ends at 156 references at 174
#   1 short: netCDF-C 10 SciPy 10 kerchunk 20 file ends at 116 references at 136
#   5 bytes: netCDF-C 10 SciPy 10 kerchunk 16 file ends at 146 references at 176
#   2 shorts: netCDF-C 10 SciPy 10 kerchunk 10 file ends at 136 references at 136
#   3 shorts, twice: netCDF-C 10 SciPy 10 kerchunk 10 file ends at 296 references at 294
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check kerchunk==0.2.10 netCDF4==1.7.5.1.post1 scipy==1.18.1 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json
import os

import netCDF4
import numpy as np
import scipy.io
from kerchunk.netCDF3 import NetCDF3ToZarr


def describe(title, dtype, length, names):
    with netCDF4.Dataset("a.nc", "w", format="NETCDF3_CLASSIC") as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("x", length)
        for name in names:
            variable = dataset.createVariable(name, dtype, ("time", "x"))
            variable[:] = np.arange(10 * length).reshape(10, length)
    with netCDF4.Dataset("a.nc") as dataset, scipy.io.netcdf_file("a.nc", mmap=False) as file:
        lengths = ["netCDF-C", len(dataset["a"]), "SciPy", len(file.variables["a"][:])]
    references = NetCDF3ToZarr("a.nc", inline_threshold=0).translate()["refs"]
    lengths += ["kerchunk", json.loads(references["a/.zarray"])["shape"][0]]
    end = max(value[1] + value[2] for value in references.values() if isinstance(value, list))
    print(title, *lengths, "file ends at", os.path.getsize("a.nc"), "references at", end)


describe("3 shorts:", "i2", 3, ["a"])
describe("1 short:", "i2", 1, ["a"])
describe("5 bytes:", "i1", 5, ["a"])
describe("2 shorts:", "i2", 2, ["a"])
describe("3 shorts, twice:", "i2", 3, ["a", "b"])
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: kerchunk finds more records in a netCDF-3 file with one record variable than there are. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
