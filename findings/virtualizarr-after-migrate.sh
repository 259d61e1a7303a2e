#!/usr/bin/env bash
# VirtualiZarr sees no chunk of a store that `zarr migrate v3` has migrated: all elements are the fill value.
#
# The command leaves the chunks where they are and says so in the metadata: the key encoding has the name `v2`, which the
# specification of v3 has beside `default`. VirtualiZarr goes by the version alone, and looks for chunks of v3 below `c/`.
# There are none, which is allowed, so nobody is told. An array that zarr-python creates with this encoding is read so, too.
#
# Versions: virtualizarr 2.8.0, zarr 3.4.2
# Source:   met when all key encodings were referred to; no thread known (VirtualiZarr#1069, of another separator, is closed)
# Expected output:
#
#   v2 [0, 1, 2, 3]
#   migrated.zarr v2 zarr-python [0, 1, 2, 3] VirtualiZarr [-1, -1, -1, -1]
#   created.zarr v2 zarr-python [0, 1, 2, 3] VirtualiZarr [-1, -1, -1, -1]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check 'virtualizarr[zarr]==2.8.0' 'zarr[cli]==3.4.2'
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json
import os
import subprocess

import zarr
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr.parsers import ZarrParser


def by_virtualizarr(path):
    store = ZarrParser()(url=f"file://{os.path.abspath(path)}", registry=ObjectStoreRegistry({"file://": LocalStore()}))
    return zarr.open_group(store, mode="r")["t"][...].tolist()


def create(path, **more):
    zarr.open_group(path, mode="w", zarr_format=more["zarr_format"])
    zarr.create_array(f"{path}/t", shape=(4,), chunks=(2,), dtype="i4", fill_value=-1, **more)[...] = range(4)


create("migrated.zarr", zarr_format=2)
print("v2", by_virtualizarr("migrated.zarr"))
subprocess.run(["venv/bin/zarr", "migrate", "v3", "migrated.zarr"], check=True, capture_output=True)
subprocess.run(["venv/bin/zarr", "remove-metadata", "v2", "migrated.zarr"], check=True, capture_output=True)
create("created.zarr", zarr_format=3, chunk_key_encoding={"name": "v2", "separator": "."})
for path in ["migrated.zarr", "created.zarr"]:
    with open(f"{path}/t/zarr.json") as opened:
        name = json.load(opened)["chunk_key_encoding"]["name"]
    print(path, name, "zarr-python", zarr.open_group(path, mode="r")["t"][...].tolist(), "VirtualiZarr", by_virtualizarr(path))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: VirtualiZarr sees no chunk whose key is of the encoding `v2`. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
