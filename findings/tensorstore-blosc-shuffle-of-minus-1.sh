#!/usr/bin/env bash
# The shuffle that TensorStore writes for Zarr is one that it refuses for N5.
#
# Told no more than "blosc", its Zarr driver writes `"shuffle": -1`, which is numcodecs' word for "by the size
# of the elements". Blosc in N5 has the same members; there its own driver takes 0 to 2 only. A converter that
# carries the members over makes an N5 dataset that TensorStore does not open.
#
# Versions: tensorstore 0.1.86
# Source:   met when real arrays were copied from Zarr to N5; no thread known
# Expected output:
#
#   -1
#   "shuffle": Expected integer in the range [0, 2], but received: -1
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tensorstore==0.1.86
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json

import tensorstore

zarr = {"shape": [4, 3], "dtype": "<u2", "chunks": [4, 3], "compressor": {"id": "blosc"}}
place = {"driver": "file", "path": "a.zarr/"}
tensorstore.open({"driver": "zarr", "kvstore": place, "metadata": zarr}, create=True).result()
with open("a.zarr/.zarray") as opened:
    blosc = json.load(opened)["compressor"]
print(blosc["shuffle"])
n5 = {"dimensions": [4, 3], "dataType": "uint16", "blockSize": [4, 3]}
n5["compression"] = {"type": "blosc"} | {name: blosc[name] for name in ("cname", "clevel", "shuffle")}
place = {"driver": "file", "path": "a.n5/"}
try:
    tensorstore.open({"driver": "n5", "kvstore": place, "metadata": n5}, create=True).result()
except ValueError as error:
    print(str(error)[str(error).index('"shuffle"') :])
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: The shuffle that TensorStore writes for Zarr is one that it refuses for N5. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
