#!/usr/bin/env bash
# zarr-js and zarr.js read arrays of Zarr v2 without looking at all that tells how they are stored.
#
# Neither looks at `filters`: where a filter keeps the size, as a delta or the byte shuffle do, its bytes are taken for the
# elements. zarr-js looks neither at `order` nor at `dimension_separator`: elements are at other places, or all chunks are
# taken for absent. No error in any of these; zarrita.js has them right.
#
# Versions: zarr-js 3.3.0, zarr 0.6.3 (npm), zarrita 0.7.5, @zarrita/storage 0.2.0, zarr 3.4.2 (PyPI); needs Node.js 20 or newer with npm
# Source:   met when what v2 has beside chunks and compressors was crossed with readers in JavaScript; no thread known
# Expected output:
#
#   plain zarr-js: equal
#   plain zarr.js: equal
#   plain zarrita.js: equal
#   delta zarr-js: 0 1 1 3 1 1 4 1 1 4 1 1
#   delta zarr.js: 0 1 1 3 1 1 4 1 1 4 1 1
#   delta zarrita.js: equal
#   shuffle zarr-js: 100794624 2055 0 151323651 2826 0 0 0 0 0 0 0
#   shuffle zarr.js: 100794624 2055 0 151323651 2826 0 0 0 0 0 0 0
#   shuffle zarrita.js: equal
#   order zarr-js: 0 6 1 3 9 4 7 2 8 10 5 11
#   order zarr.js: equal
#   order zarrita.js: equal
#   separator zarr-js: 0 0 0 0 0 0 0 0 0 0 0 0
#   separator zarr.js: equal
#   separator zarrita.js: equal
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
npm install --silent --no-audit --no-fund zarr-js@3.3.0 zarr@0.6.3 zarrita@0.7.5 @zarrita/storage@0.2.0

cat >write.py <<'PROGRAM'
import numcodecs
import numpy as np
import zarr

cases = {
    "plain": {},
    "delta": {"filters": [numcodecs.Delta(dtype="<i4")]},
    "shuffle": {"filters": [numcodecs.Shuffle(4)]},
    "order": {"order": "F"},
    "separator": {"chunk_key_encoding": {"name": "v2", "separator": "/"}},
}
for name, more in cases.items():
    made = {"shape": (2, 6), "chunks": (2, 3), "dtype": "<i4", "fill_value": 0, "compressors": numcodecs.GZip(5)}
    zarr.create_array(name, zarr_format=2, **made, **more)[...] = np.arange(12).reshape(2, 6)
PROGRAM
cat >read.mjs <<'PROGRAM'
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import FileSystemStore from "@zarrita/storage/fs";
import { KeyError, openArray } from "zarr";
import zarrJs from "zarr-js";
import * as zarrita from "zarrita";

const written = Array.from({ length: 12 }, (_, i) => i).join(" ");
const told = (found) => (found === written ? "equal" : found);

// zarr.js comes without a store of files.
class Files {
  constructor(folder) {
    this.folder = folder;
  }
  containsItem(key) {
    return existsSync(`${this.folder}/${key}`);
  }
  getItem(key) {
    if (!this.containsItem(key)) throw new KeyError(key);
    return readFileSync(`${this.folder}/${key}`);
  }
}

const readers = {
  "zarr-js": (name) =>
    new Promise((resolve, reject) =>
      zarrJs(readFile).load(name, (error, { data, shape, stride, offset }) => {
        if (error) return reject(error);
        const places = Array.from({ length: 12 }, (_, i) => [Math.floor(i / shape[1]), i % shape[1]]);
        resolve(places.map(([y, x]) => data[offset + y * stride[0] + x * stride[1]]));
      }),
    ),
  "zarr.js": async (name) => (await (await openArray({ store: new Files(name), mode: "r" })).getRaw([null, null])).data,
  "zarrita.js": async (name) => {
    const array = await zarrita.open.v2(new FileSystemStore(name), { kind: "array" });
    const { data, shape, stride } = await zarrita.get(array);
    return Array.from({ length: 12 }, (_, i) => data[Math.floor(i / shape[1]) * stride[0] + (i % shape[1]) * stride[1]]);
  },
};
for (const name of ["plain", "delta", "shuffle", "order", "separator"]) {
  for (const [library, read] of Object.entries(readers)) {
    let found;
    try {
      found = told(Array.from(await read(name)).join(" "));
    } catch (error) {
      found = "an error";
    }
    console.log(`${name} ${library}: ${found}`);
  }
}
PROGRAM
venv/bin/python -W ignore write.py
seen=$(node read.mjs)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarr-js and zarr.js do not look at filters and order. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
