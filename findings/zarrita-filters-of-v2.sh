#!/usr/bin/env bash
# zarrita.js reads filters of Zarr v2 as if each of them kept the type of the array.
#
# In Zarr v2 a filter tells by itself which elements it makes. zarrita.js reads past that:
# - `elementsize` of the byte shuffle: the size of the array's type is used instead, while
#   numcodecs shuffles 4 bytes if not told otherwise, whatever the array holds.
# - `astype` of delta: the stored bytes are taken for elements of the array's type.
# - the byte order in `astype` of fixedscaleoffset: that of the array's type is used instead.
# All these read as other elements, without an error. And where fixedscaleoffset stores integers,
# an array with the usual fill value NaN is not read, not even a chunk that is stored.
#
# Versions: zarrita 0.7.5, @zarrita/storage 0.2.0, zarr 3.4.2, numcodecs 0.17.1 (PyPI);
#           needs Node.js 20 or newer with npm
# Source:   https://numcodecs.readthedocs.io/en/stable/ (filters: shuffle, delta, fixedscaleoffset);
#           manzt/zarrita.js: packages/zarrita/src/codecs/shuffle.ts, delta.ts, cast_value.ts
#           (getEncodedMeta) and packages/zarrita/src/util.ts (v2ToV3ArrayMetadata); met when
#           settings of filters were crossed with readers; no thread known
# Expected output:
#
#   shuffle-of-2 zarr-python 1 2 3 4 5 6 7 8
#   shuffle-of-2 zarrita.js 1 2 3 4 5 6 7 8
#   shuffle-of-4 zarr-python 1 2 3 4 5 6 7 8
#   shuffle-of-4 zarrita.js 513 1027 1541 2055 0 0 0 0
#   delta zarr-python 1 2 3 4 5 6 7 8
#   delta zarrita.js 1 2 3 4 5 6 7 8
#   delta-as-i2 zarr-python 1 2 3 4 5 6 7 8
#   delta-as-i2 zarrita.js 65537 131074 196611 262148 0 0 0 0
#   scale-as-little zarr-python 1 2 3 4 5 6 7 8
#   scale-as-little zarrita.js 1 2 3 4 5 6 7 8
#   scale-as-big zarr-python 1 2 3 4 5 6 7 8
#   scale-as-big zarrita.js 256 512 768 1024 1280 1536 1792 2048
#   scale-of-big zarr-python 1 2 3 4 5 6 7 8
#   scale-of-big zarrita.js 256 512 768 1024 1280 1536 1792 2048
#   scale-fill-nan zarr-python 1 2 3 4 5 6 7 8
#   scale-fill-nan zarrita.js Error: Cannot cast NaN to integer type without scalar_map
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check zarr==3.4.2 numcodecs==0.17.1
cd "$folder"
npm install --silent --no-audit --no-fund zarrita@0.7.5 @zarrita/storage@0.2.0

cat >write.py <<'PROGRAM'
import numpy as np
import zarr
from numcodecs import Delta, FixedScaleOffset, Shuffle

cases = {
    "shuffle-of-2": ("<i2", 0, [Shuffle(elementsize=2)]),
    "shuffle-of-4": ("<i2", 0, [Shuffle()]),
    "delta": ("<i4", 0, [Delta("<i4")]),
    "delta-as-i2": ("<i4", 0, [Delta("<i4", astype="<i2")]),
    "scale-as-little": ("<f8", 0, [FixedScaleOffset(0, 10, "<f8", "<i2")]),
    "scale-as-big": ("<f8", 0, [FixedScaleOffset(0, 10, "<f8", ">i2")]),
    "scale-of-big": (">f8", 0, [FixedScaleOffset(0, 10, ">f8", "<i2")]),
    "scale-fill-nan": ("<f8", "NaN", [FixedScaleOffset(0, 10, "<f8", "<i2")]),
}
for name, (dtype, fill, filters) in cases.items():
    made = {"shape": (8,), "chunks": (8,), "dtype": dtype, "fill_value": float(fill)}
    made = {**made, "filters": filters, "compressors": None, "zarr_format": 2}
    zarr.create_array(name, **made)[...] = np.arange(1, 9)
    found = zarr.open_array(name, mode="r")[...]
    print(name, "zarr-python", *(f"{element:g}" for element in found))
PROGRAM
cat >read.mjs <<'PROGRAM'
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

for (const name of process.argv.slice(2)) {
  let found;
  try {
    const array = await zarr.open.v2(new FileSystemStore(name), { kind: "array" });
    const { data, shape, stride } = await zarr.get(array);
    const elements = [];
    const walk = (axis, place) => {
      if (axis === shape.length) return elements.push(String(data[place]));
      for (let i = 0; i < shape[axis]; i++) walk(axis + 1, place + i * stride[axis]);
    };
    walk(0, 0);
    found = elements.join(" ");
  } catch (error) {
    found = `${error.name}: ${error.message.split(". ")[0]}`;
  }
  console.log(`${name} zarrita.js ${found}`);
}
PROGRAM
venv/bin/python -W ignore write.py >by-python
node read.mjs $(cut -d ' ' -f 1 by-python) >by-zarrita
seen=$(paste -d '\n' by-python by-zarrita)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarrita.js reads filters of Zarr v2 otherwise. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
