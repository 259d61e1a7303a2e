#!/usr/bin/env bash
# zarr-python does not take back the chunk lengths that it writes, and opens no such array by itself.
#
# A rectilinear grid is written with one axis as a list of lengths and another as runs [length, count],
# whichever is shorter; both may stand in one document, and with sharding the lengths are those of the shards.
# Given to `create_array` the runs are refused. And until a flag is set no array with such a grid is opened,
# though the grid is registered.
#
# Versions: zarr 3.4.2
# Source:   chunk-grids/rectilinear of zarr-extensions; found when such shards were to be read
# Expected output:
#
#   [[4, 2, 6], [[5, 2]]]
#   Each chunk size must be an integer
#   Rectilinear chunk grids are experimental and disabled by default
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json

import zarr

zarr.config.set({"array.rectilinear_chunks": True})
told = {"shape": (12, 10), "dtype": "i4", "chunks": (2, 5)}
zarr.create_array("a.zarr", shards=[[4, 2, 6], [5, 5]], **told)
with open("a.zarr/zarr.json") as opened:
    lengths = json.load(opened)["chunk_grid"]["configuration"]["chunk_shapes"]
print(lengths)
try:
    zarr.create_array("b.zarr", shards=lengths, **told)
except TypeError as error:
    print(str(error).split(";")[0])
zarr.config.set({"array.rectilinear_chunks": False})
try:
    zarr.open_array("a.zarr")
except ValueError as error:
    print(str(error).split(".")[0])
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarr-python does not take back the chunk lengths that it writes, and opens no such array by itself. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
