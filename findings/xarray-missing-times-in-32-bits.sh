#!/usr/bin/env bash
# xarray writes missing times in an integer type of less than 64 bits as the reference date.
#
# NaT is the smallest integer of 64 bits, and what is left of it in 32 bits is 0: the date that the units count from. There is
# no error and no warning; for NaN in an integer type without a fill value there is one. The type need not be told: it is
# kept when a store is opened and changed, and it is the store's when steps are appended to it. With the type int64, a float
# or a `_FillValue` the time is missing again. Durations become 0.
#
# Versions: xarray 2026.9.0, zarr 3.4.2
# Source:   met when times of all types were written and read again; no thread known
# Expected output:
#
#   {'dtype': 'i8'} ['2000-01-01', 'NaT'] warnings 0
#   {'dtype': 'f4'} ['2000-01-01', 'NaT'] warnings 0
#   {'dtype': 'i4', '_FillValue': -1} ['2000-01-01', 'NaT'] warnings 0
#   {'dtype': 'i4'} ['2000-01-01', '1970-01-01'] warnings 0
#   {'dtype': 'i2'} ['2000-01-01', '1970-01-01'] warnings 0
#   without NaT ['2000-01-01', '2000-01-02'] warnings 0
#   appended ['2000-01-01', '2000-01-02', '1970-01-01'] warnings 0
#   changed ['1970-01-01', '2000-01-02'] warnings 0
#   duration ['1 days', '0 days'] warnings 0
#   number int32 warnings 1
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check xarray==2026.9.0 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import warnings

import numpy as np
import xarray as xr


def made(*times):
    return xr.Dataset({"seen": ("station", np.array(times, dtype="M8[ns]"))})


def written(title, dataset, path, **more):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        dataset.to_zarr(path, zarr_format=2, consolidated=False, **more)
    with xr.open_zarr(path, consolidated=False) as opened:
        (values,) = [variable.values for variable in opened.data_vars.values()]
    if values.dtype.kind in "mM":
        shown = values.astype(f"{values.dtype.kind}8[D]").astype(str).tolist()
    else:
        shown = values.dtype
    print(title, shown, "warnings", sum(issubclass(warning.category, xr.SerializationWarning) for warning in told))


units = "days since 1970-01-01"
for told in [{"dtype": "i8"}, {"dtype": "f4"}, {"dtype": "i4", "_FillValue": -1}, {"dtype": "i4"}, {"dtype": "i2"}]:
    path = "-".join(map(str, told.values())) + ".zarr"
    written(told, made("2000-01-01", "NaT"), path, encoding={"seen": {"units": units} | told})

written("without NaT", made("2000-01-01", "2000-01-02"), "a.zarr", encoding={"seen": {"units": units, "dtype": "i4"}})
written("appended", made("NaT"), "a.zarr", append_dim="station")
changed = xr.open_zarr("a.zarr", consolidated=False).isel(station=slice(0, 2)).load()
changed["seen"][0] = np.datetime64("NaT", "ns")
written("changed", changed, "b.zarr")
durations = xr.Dataset({"age": ("station", np.array([1, "NaT"], dtype="m8[D]"))})
written("duration", durations, "c.zarr", encoding={"age": {"units": "days", "dtype": "i4"}})
numbers = xr.Dataset({"number": ("station", [1, np.nan])})
written("number", numbers, "d.zarr", encoding={"number": {"dtype": "i4"}})
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: xarray writes missing times in 32 bits as the reference date. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
