#!/usr/bin/env bash
# Cubed's mean of booleans is a boolean: true unless all elements are false.
#
# The mean of a mask is the share of elements that have it, such as that of cloudy pixels or of days
# of frost. Cubed divides the count by the number of elements, and then makes a boolean of 0.75, as
# it keeps the type of the array where that is no integer. xarray passes `mean` on to Cubed, so the
# same line of xarray gives 0.75 for NumPy and for dask, and True for Cubed. No error, no warning.
#
# What should be: 3 of 4 are 0.75. The array API standard asks for floats here and leaves others to
# the library (https://data-apis.org/array-api/latest/, `mean`); for booleans other functions of
# Cubed, such as `max`, raise a TypeError, and `sum` counts, which was added for xarray
# (https://github.com/cubed-dev/cubed/pull/550).
#
# Versions: cubed 0.28.0, cubed-xarray 0.0.9, xarray 2026.9.0, numpy 2.5.5, dask 2026.8.0
# Source:   `mean` in cubed/array_api/statistical_functions.py of
#           https://github.com/cubed-dev/cubed; no thread known
# Expected output:
#
#   NumPy: sum 3, mean 0.75
#   dask: sum 3, mean 0.75
#   Cubed: sum 3, mean True
#   Cubed, nanmean: True
#   Cubed, as float64: mean 0.75
#   Cubed, by rows: True True False
#   xarray on NumPy: mean 0.75
#   xarray on dask: mean 0.75
#   xarray on Cubed: mean True
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    cubed==0.28.0 cubed-xarray==0.0.9 xarray==2026.9.0 numpy==2.5.5 dask==2026.8.0
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import cubed
import cubed.array_api
import dask.array
import numpy
import xarray

mask = numpy.array([True, True, True, False])
lazy = dask.array.from_array(mask, chunks=2)
array = cubed.from_array(mask, chunks=2)
print(f"NumPy: sum {mask.sum()}, mean {mask.mean()}")
print(f"dask: sum {lazy.sum().compute()}, mean {lazy.mean().compute()}")
print(f"Cubed: sum {cubed.sum(array).compute()}, mean {cubed.mean(array).compute()}")
print(f"Cubed, nanmean: {cubed.nanmean(array).compute()}")
print(f"Cubed, as float64: mean {cubed.mean(cubed.astype(array, cubed.float64)).compute()}")
rows = numpy.array([[True, False], [True, True], [False, False]])
by_rows = cubed.mean(cubed.from_array(rows, chunks=(2, 1)), axis=1).compute()
print("Cubed, by rows:", *by_rows)

degrees = xarray.DataArray(numpy.array([1.0, 2.0, 3.0, -4.0]), dims="day")
for name, days in (
    ("NumPy", degrees),
    ("dask", degrees.chunk(day=2, chunked_array_type="dask")),
    ("Cubed", degrees.chunk(day=2, chunked_array_type="cubed")),
):
    print(f"xarray on {name}: mean {(days > 0).mean().compute().item()}")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: what Cubed takes for the mean of booleans. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
