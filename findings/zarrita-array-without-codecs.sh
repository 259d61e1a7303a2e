#!/usr/bin/env bash
# zarrita.js, told no codecs, writes an array that zarr-python does not open.
#
# The specification asks for one codec that makes bytes of elements. `zarr.create` writes the codecs as it is told them,
# by default none: an empty list. It reads the array again, because it takes `bytes` for granted.
#
# Versions: zarrita 0.7.5, @zarrita/storage 0.2.0, zarr 3.4.2; needs Node.js 20 or newer with npm
# Source:   found when rechunk was crossed with its peers (tests/oracle/zarrita); no thread known
# Expected output:
#
#   codecs []
#   zarrita 0,1,2,3
#   zarr-python At least one ArrayBytesCodec is required.
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
npm install --silent --no-audit --no-fund zarrita@0.7.5 @zarrita/storage@0.2.0

cat >write.mjs <<'PROGRAM'
import { readFileSync } from "node:fs";
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

const store = new FileSystemStore("a.zarr");
const array = await zarr.create(store, { shape: [4], chunkShape: [4], dtype: "int32", fillValue: 0 });
await zarr.set(array, null, { data: Int32Array.of(0, 1, 2, 3), shape: [4], stride: [1] });
console.log("codecs", JSON.stringify(JSON.parse(readFileSync("a.zarr/zarr.json", "utf8")).codecs));
const { data } = await zarr.get(await zarr.open(store, { kind: "array" }));
console.log("zarrita", String(data));
PROGRAM
cat >read.py <<'PROGRAM'
import zarr

try:
    print(zarr.open_array("a.zarr", mode="r")[...])
except ValueError as error:
    print("zarr-python", error)
PROGRAM
seen=$(node write.mjs && venv/bin/python -W ignore read.py)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarrita.js writes something else where it is told no codecs. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
