#!/usr/bin/env bash
# kerchunk's `concatenate_arrays` puts chunks of an array named "1" or "0" at other places.
#
# To take the array's path off a chunk's key it calls `key.lstrip(path)`, which takes off any of
# the path's characters, not the path: of "1/10.0" it leaves "0.0", and of "1/1.0" it leaves ".0".
# So row 10 of the chunks is stored as row 0, and rows 1 and 11 have keys that no reader looks for:
# they are fill value. Levels of a multiscale image are usually named by digits. There is no error,
# and the argument `check_arrays` finds nothing, where the arrays are joined along another axis
# than the first; along the first, what is left of a number is refused as no integer. Any name that
# contains digits can do it.
#
# What was run: two equal arrays, each row a chunk with a number of its own, were joined by their
# references and read by zarr-python. The first column has to be that of the first array, or, along
# axis 0, of both, as numpy joins them. Zarr v2 has a chunk's key as the path, `/`, and the
# indices.
#
# Versions: kerchunk 0.2.10, zarr 3.4.2, numcodecs 0.17.1, fsspec 2026.9.0, numpy 2.5.5
# Source:   kerchunk/combine.py, `concatenate_arrays`, in fsspec/kerchunk; Python's `str.lstrip`,
#           https://docs.python.org/3/library/stdtypes.html#str.lstrip; Zarr storage specification
#           version 2, "Chunks", https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html; no
#           thread known
# Expected output:
#
#   array 'level' of 12 rows, two along axis 1, first column
#       by arithmetic [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200]
#       by kerchunk   [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200]
#   array '1' of 12 rows, two along axis 1, first column
#       by arithmetic [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200]
#       by kerchunk   [1100, -1, 300, 400, 500, 600, 700, 800, 900, 1000, -1, -1]
#   array '1' of 2 rows, two along axis 1, first column
#       by arithmetic [100, 200]
#       by kerchunk   [100, -1]
#       keys          ['1/.0', '1/.1', '1/.zarray', '1/.zattrs', '1/0.0', '1/0.1']
#   array '0' of 2 rows, two along axis 1, first column
#       by arithmetic [100, 200]
#       by kerchunk   [-1, 200]
#       keys          ['0/.0', '0/.1', '0/.zarray', '0/.zattrs', '0/1.0', '0/1.1']
#   array '1' of 2 rows, two along axis 0, first column
#       by arithmetic [100, 200, 100, 200]
#       by kerchunk   invalid literal for int() with base 10: ''
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
    kerchunk==0.2.10 zarr==3.4.2 numcodecs==0.17.1 fsspec==2026.9.0 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import fsspec
import numpy as np
import zarr
from kerchunk.combine import concatenate_arrays
from kerchunk.zarr import single_zarr
from zarr.storage import FsspecStore

for name, axis, rows in (("level", 1, 12), ("1", 1, 12), ("1", 1, 2), ("0", 1, 2), ("1", 0, 2)):
    elements = np.arange(1, rows + 1, dtype="i2")[:, None] * [100, 100]
    folders = [f"{name}-{axis}-{rows}-{part}.zarr" for part in ("a", "b")]
    for folder in folders:
        group = zarr.open_group(folder, mode="w", zarr_format=2)
        made = {"shape": elements.shape, "chunks": (1, 2), "compressors": None, "fill_value": -1}
        group.create_array(name, dtype="i2", **made)[...] = elements
    print(f"array {name!r} of {rows} rows, two along axis {axis}, first column")
    wanted = np.concatenate([elements, elements], axis)[:, 0]
    print(f"    by arithmetic {wanted.tolist()}")
    try:
        parts = [single_zarr(folder) for folder in folders]
        joined = concatenate_arrays(parts, axis=axis, path=name, check_arrays=True)
    except ValueError as error:
        print(f"    by kerchunk   {error}")
        continue
    remote = {"remote_protocol": "file", "remote_options": {"asynchronous": True}}
    files = fsspec.filesystem("reference", fo=joined, asynchronous=True, **remote)
    group = zarr.open_group(FsspecStore(files, read_only=True), mode="r", zarr_format=2)
    print(f"    by kerchunk   {group[name][...][:, 0].tolist()}")
    keys = [key for key in joined["refs"] if key.startswith(f"{name}/")]
    if rows == 2:
        print(f"    keys          {sorted(keys)}")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: chunks of an array named 1 are elsewhere. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
