#!/usr/bin/env bash
# kerchunk and VirtualiZarr take an HDF5 dataset whose elements are in other files for one that was never written.
#
# A virtual dataset is made of parts of others, often of other files: detectors write their master files so. HDF5 can keep
# the elements of a dataset in an external file, too. Neither has an address in the file, and both libraries take that for
# "no element was stored": the references have no chunk, and all elements are the fill value. Nobody is told.
#
# Versions: kerchunk 0.2.10, virtualizarr 2.8.0, h5py 3.16.0, zarr 3.4.2
# Source:   met when HDF5 datasets of all layouts were referred to; no thread known (VirtualiZarr#527 is of compact ones)
# Expected output:
#
#   HDF5 {'contiguous': 80200, 'external': 80200, 'virtual': 80200}
#   kerchunk {'contiguous': 80200, 'external': 0, 'virtual': 0}
#   VirtualiZarr {'contiguous': 80200, 'external': 0, 'virtual': 0}
#   warnings that name one: 0
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check kerchunk==0.2.10 virtualizarr==2.8.0 h5py==3.16.0 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import os
import warnings

import h5py
import kerchunk.hdf
import numpy as np
import xarray as xr
import zarr
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr.parsers import HDFParser

elements = np.arange(1, 401, dtype="i4").reshape(2, 200)
for part in range(2):
    with h5py.File(f"part{part}.h5", "w") as file:
        file["t"] = elements[part]
layout = h5py.VirtualLayout((2, 200), "i4")
for part in range(2):
    layout[part] = h5py.VirtualSource(f"part{part}.h5", "t", shape=(200,))
elements.tofile("elements.bin")
with h5py.File("a.h5", "w") as file:
    file["contiguous"] = elements
    file.create_virtual_dataset("virtual", layout)
    file.create_dataset("external", (2, 200), "i4", external="elements.bin")

with h5py.File("a.h5") as file:
    print("HDF5", {name: int(file[name][...].sum()) for name in sorted(file)})
with warnings.catch_warnings(record=True) as told, open("a.h5", "rb") as file:
    warnings.simplefilter("always")
    references = kerchunk.hdf.SingleHdf5ToZarr(file, "a.h5").translate()
    opened = xr.open_dataset(references, engine="kerchunk")
    print("kerchunk", {name: int(opened[name].sum()) for name in sorted(opened)})
    store = HDFParser()(url=f"file://{os.path.abspath('a.h5')}", registry=ObjectStoreRegistry({"file://": LocalStore()}))
    group = zarr.open_group(store, mode="r")
    print("VirtualiZarr", {name: int(group[name][...].sum()) for name in sorted(group)})
print("warnings that name one:", sum(name in str(warning.message) for warning in told for name in ["virtual", "external"]))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: kerchunk and VirtualiZarr take HDF5 datasets in other files for ones never written. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
