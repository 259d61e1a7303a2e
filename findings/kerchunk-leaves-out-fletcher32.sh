#!/usr/bin/env bash
# kerchunk leaves out an HDF5 dataset that has a Fletcher-32 checksum.
#
# The error is caught where it is raised and becomes a warning of Python, which is easily silenced or lost in a
# log: the references that come out are a document of the other datasets. The code that would take the four
# bytes of the checksum off each chunk is still there, behind the check that refuses the filter.
#
# Versions: kerchunk 0.2.10, h5py 3.16.0
# Source:   found when rechunk was crossed with its peers (tests/oracle/crossings); no thread known
# Expected output:
#
#   ['plain']
#   /checked uses filter id fletcher32 with properties None, not supported by kerchunk.
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check kerchunk==0.2.10 h5py==3.16.0 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import warnings

import h5py
import kerchunk.hdf
import numpy as np

elements = np.arange(1200, dtype="u2").reshape(30, 40)
with h5py.File("a.h5", "w") as file:
    file.create_dataset("plain", data=elements, chunks=(7, 10))
    file.create_dataset("checked", data=elements, chunks=(7, 10), fletcher32=True)
with warnings.catch_warnings(record=True) as told, open("a.h5", "rb") as file:
    warnings.simplefilter("always")
    references = kerchunk.hdf.SingleHdf5ToZarr(file, "a.h5").translate()["refs"]
print(sorted({key.split("/")[0] for key in references if not key.startswith(".")}))
print(*{str(warning.message).split("\n")[1] for warning in told if "quashed" in str(warning.message)})
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: kerchunk leaves out an HDF5 dataset that has a Fletcher-32 checksum. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
