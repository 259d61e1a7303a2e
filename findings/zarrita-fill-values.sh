#!/usr/bin/env bash
# zarrita.js reads three kinds of fill value of Zarr v3 as other numbers.
#
# The specification lets a float be written as its bytes in hexadecimal, which is the only way for a NaN that is not the
# usual one; TensorStore writes the NaN that processors of Intel make of 0/0 like this. zarrita.js takes the digits for an
# integer. Integers of 64 bits become a double before they become a BigInt: the largest uint64, which marks what is unknown
# in many label images, is 0. Only absent chunks are concerned. (In JavaScript `JSON.parse` alone does not give more digits.)
#
# Versions: zarrita 0.7.5, @zarrita/storage 0.2.0, tensorstore 0.1.86; needs Node.js 20 or newer with npm
# Source:   met when fill values of all types were crossed with readers; zarr-specs#334 asks how JavaScript shall read 64 bits
# Expected output:
#
#   float32 "0x3fc00000" TensorStore 1.5 zarrita.js 1069547520
#   float32 "0xffc00000" TensorStore nan zarrita.js 4290772992
#   float64 "0x3ff8000000000000" TensorStore 1.5 zarrita.js 4609434218613702700
#   float32 "NaN" TensorStore nan zarrita.js NaN
#   int64 9007199254740993 TensorStore 9007199254740993 zarrita.js 9007199254740992
#   uint64 18446744073709551615 TensorStore 18446744073709551615 zarrita.js 0
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
npm install --silent --no-audit --no-fund zarrita@0.7.5 @zarrita/storage@0.2.0

cat >write.py <<'PROGRAM'
import json
import os

import numpy as np
import tensorstore

fills = [
    ("float32", "0x3fc00000"),
    ("float32", "0xffc00000"),
    ("float64", "0x3ff8000000000000"),
    ("float32", "NaN"),
    ("int64", 2**53 + 1),
    ("uint64", 2**64 - 1),
]
for number, (name, fill) in enumerate(fills):
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [1],
        "data_type": name,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }
    os.mkdir(str(number))
    with open(f"{number}/zarr.json", "w") as opened:
        json.dump(document, opened)
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{number}/"}}
    print(name, json.dumps(fill), "TensorStore", tensorstore.open(spec).result().read().result()[0])
PROGRAM
cat >read.mjs <<'PROGRAM'
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

for (let number = 0; number < 6; number++) {
  const array = await zarr.open(new FileSystemStore(`${number}`), { kind: "array" });
  const { data } = await zarr.get(array);
  console.log("zarrita.js", String(data[0]));
}
PROGRAM
venv/bin/python -W ignore write.py >by-tensorstore
node read.mjs >by-zarrita
seen=$(paste -d ' ' by-tensorstore by-zarrita)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarrita.js reads fill values of Zarr v3 as other numbers. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
