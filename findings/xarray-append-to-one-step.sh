#!/usr/bin/env bash
# xarray gives steps appended to an archive of one step other times.
#
# An archive that is begun with one time is stored as "days since" that day in 64-bit integers, since nothing is
# known of the step. Steps of six hours that are appended do not fit that unit: their times are stored as if the
# hours were days, and nobody is told.
#
# Versions: xarray 2026.9.0, zarr 3.4.2
# Source:   met when archives that grow by one step were tried; no thread known
# Expected output:
#
#   days since 2000-01-01 00:00:00 int64 [ 0  6 12]
#   ['2000-01-01T00', '2000-01-07T00', '2000-01-13T00']
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
import pandas as pd
import xarray as xr


def step(time):
    return xr.Dataset({"t": ("time", [1.0])}, coords={"time": pd.to_datetime([time])})


step("2000-01-01T00").to_zarr("a.zarr", zarr_format=3, consolidated=False)
for time in ["2000-01-01T06", "2000-01-01T12"]:
    step(time).to_zarr("a.zarr", append_dim="time", zarr_format=3, consolidated=False)
opened = xr.open_zarr("a.zarr", consolidated=False, decode_times=False).time
print(opened.attrs["units"], opened.dtype, opened.values)
print(xr.open_zarr("a.zarr", consolidated=False).time.dt.strftime("%Y-%m-%dT%H").values.tolist())
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: xarray gives steps appended to an archive of one step other times. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
