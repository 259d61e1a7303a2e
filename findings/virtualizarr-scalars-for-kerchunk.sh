#!/usr/bin/env bash
# A variable without dimensions is lost in the references that VirtualiZarr writes for kerchunk.
#
# The chunk of such an array has the key `0` in Zarr v2, and so it has in kerchunk's own references. VirtualiZarr writes a
# key that ends after the name: no reader looks there, and takes the fill value. Files of CF have such variables for the
# grid mapping, the time of a forecast or the height; read with xarray they are NaN and NaT.
#
# Versions: virtualizarr 2.8.0, kerchunk 0.2.10, xarray 2026.9.0, zarr 3.4.2
# Source:   met when arrays of zero axes were referred to; no thread known (VirtualiZarr#966 is of reading such references)
# Expected output:
#
#   kerchunk ['height/0', 'run/0', 't/0'] [1.0, 2.0] 2.0 2026-01-01
#   VirtualiZarr ['height/', 'run/', 't/0'] [1.0, 2.0] nan nan
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check virtualizarr==2.8.0 kerchunk==0.2.10 xarray==2026.9.0 zarr==3.4.2 h5netcdf==1.8.2 h5py==3.16.0
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import os

import kerchunk.hdf
import numpy as np
import xarray as xr
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import HDFParser

time = np.datetime64("2026-01-01", "ns")
xr.Dataset({"t": ("x", [1.0, 2.0]), "height": ((), 2.0), "run": ((), time)}).to_netcdf("a.nc", engine="h5netcdf")
registry = ObjectStoreRegistry({"file://": LocalStore()})
virtual = open_virtual_dataset(f"file://{os.path.abspath('a.nc')}", registry=registry, parser=HDFParser())
with open("a.nc", "rb") as file:
    found = {
        "kerchunk": kerchunk.hdf.SingleHdf5ToZarr(file, "a.nc", inline_threshold=0).translate(),
        "VirtualiZarr": virtual.vz.to_kerchunk(format="dict"),
    }
for name, references in found.items():
    keys = sorted(key for key in references["refs"] if not key.split("/")[-1].startswith("."))
    opened = xr.open_dataset(references, engine="kerchunk")
    print(name, keys, opened.t.values.tolist(), opened.height.item(), opened.run.dt.strftime("%Y-%m-%d").item())
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: VirtualiZarr writes variables without dimensions under a key that no reader looks for. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
