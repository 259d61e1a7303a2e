#!/usr/bin/env bash
# xarray-tensorstore takes the units off times in data variables and leaves the numbers.
#
# It opens a store with xarray, which decodes times and bytes that stand for unsigned ones and moves
# the attributes that say so to the encoding. Then it exchanges the data variables for arrays of
# TensorStore, which are not decoded. So times become integers, and nothing in the attributes says
# what they count: the start and end of a period, or the time of an observation. A copy that is
# written has no units at all, and the times cannot be told any more, by any reader.
# For `_FillValue` and `scale_factor` there is an error; for `_Unsigned`, though it belongs to the
# same setting of xarray, `mask_and_scale`, there is none: 200 is read as -56.
#
# What should be: the README says that data variables are not decoded; then they should have their
# attributes, as they have in xarray with `decode_cf=False`. The docstring of `open_zarr` says
# that masking and scaling of data variables is an error. CF, section 4.4: a variable of times
# must have its units, for which there is no default.
#
# Versions: xarray-tensorstore 0.3.0, tensorstore 0.1.86, xarray 2026.9.0, zarr 3.4.2, numpy 2.5.5
# Source:   `open_zarr` in xarray_tensorstore.py of https://github.com/google/xarray-tensorstore;
#           https://cfconventions.org/cf-conventions/cf-conventions.html#time-coordinate;
#           no thread known
# Expected output:
#
#   v2, times by xarray: ['2000-01-01T06' '2000-01-03T00'], not decoded: [ 0 42] hours since ...
#   v2, times by xarray-tensorstore: [ 0 42] None
#   v2, times of its copy by xarray: [ 0 42], not decoded: [ 0 42] None
#   v2, unsigned by xarray: [200   1], by xarray-tensorstore: [-56   1], its copy: [-56   1]
#   v3, times by xarray: ['2000-01-01T06' '2000-01-03T00'], not decoded: [ 0 42] hours since ...
#   v3, times by xarray-tensorstore: [ 0 42] None
#   v3, times of its copy by xarray: [ 0 42], not decoded: [ 0 42] None
#   v3, unsigned by xarray: [200   1], by xarray-tensorstore: [-56   1], its copy: [-56   1]
#   scaled: ValueError
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
    xarray-tensorstore==0.3.0 tensorstore==0.1.86 xarray==2026.9.0 zarr==3.4.2 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import numpy
import xarray
import xarray_tensorstore

written = xarray.Dataset(
    {
        "seen": ("x", numpy.array(["2000-01-01T06", "2000-01-03T00"], "M8[ns]")),
        "count": ("x", numpy.array([-56, 1], "int8"), {"_Unsigned": "true"}),
    }
)


def in_hours(array):
    return array.values.astype("M8[h]") if array.dtype.kind == "M" else array.values


def not_decoded(path):
    seen = xarray.open_zarr(path, decode_cf=False).seen
    units = seen.attrs.get("units")
    return f"{seen.values} {units and units[:11] + ' ...'}"


for version in (2, 3):
    path, copy = f"v{version}.zarr", f"copy{version}.zarr"
    written.to_zarr(path, zarr_format=version)
    by_xarray = xarray.open_zarr(path)
    opened = xarray_tensorstore.open_zarr(path)
    opened.compute().to_zarr(copy, zarr_format=version)
    copied = xarray.open_zarr(copy)
    times = in_hours(by_xarray.seen)
    print(f"v{version}, times by xarray: {times}, not decoded: {not_decoded(path)}")
    units = opened.seen.attrs.get("units")
    print(f"v{version}, times by xarray-tensorstore: {opened.seen.values} {units}")
    times = in_hours(copied.seen)
    print(f"v{version}, times of its copy by xarray: {times}, not decoded: {not_decoded(copy)}")
    print(
        f"v{version}, unsigned by xarray: {by_xarray['count'].values}, by xarray-tensorstore: "
        f"{opened['count'].values}, its copy: {copied['count'].values}"
    )
scaled = xarray.Dataset({"a": ("x", numpy.array([1, 2], "int16"), {"scale_factor": 0.5})})
scaled.to_zarr("scaled.zarr")
try:
    print("scaled:", xarray_tensorstore.open_zarr("scaled.zarr").a.values)
except ValueError:
    print("scaled: ValueError")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: times that xarray-tensorstore reads. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
