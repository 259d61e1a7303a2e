#!/usr/bin/env bash
# zarrita.js reads Zarr v3 with two transposes, or one outside shards, at other places.
#
# The specification makes `codecs` a chain: reading undoes each codec, from the last to the first.
# The transposes of zarrita.js only set the strides of the chunk, from its shape and their own
# order; the one that is undone last overwrites what the others have set ("two" swaps the axes
# twice, which is none, and is read as if they were swapped once). Of an array whose chunks are
# shards it takes only what is inside `sharding_indexed`: the codecs before it are never undone.
# No error in any of these. A single transpose, and one inside shards, are right.
#
# Versions: zarrita 0.7.5, @zarrita/storage 0.2.0, tensorstore 0.1.86, zarr 3.4.2 (PyPI);
#           needs Node.js 20 or newer with npm
# Source:   https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html (codecs);
#           manzt/zarrita.js: packages/zarrita/src/codecs/transpose.ts (decode) and
#           packages/zarrita/src/hierarchy.ts (createContext); met when chains of codecs were
#           crossed with readers; pull requests 435, 444 and 445 there are about one transpose
# Expected output:
#
#   one TensorStore, zarr-python 1 2 3 4 5 6 7 8
#   one zarrita.js 1 2 3 4 5 6 7 8
#   inside TensorStore, zarr-python 1 2 3 4 5 6 7 8
#   inside zarrita.js 1 2 3 4 5 6 7 8
#   two TensorStore, zarr-python 1 2 3 4 5 6 7 8
#   two zarrita.js 1 3 5 7 2 4 6 8
#   cycle TensorStore, zarr-python 1 2 3 4 5 6 7 8 9 10 11 12
#   cycle zarrita.js 1 4 2 5 3 6 7 10 8 11 9 12
#   outside TensorStore, zarr-python 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
#   outside zarrita.js 1 5 9 13 2 6 10 14 3 7 11 15 4 8 12 16
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tensorstore==0.1.86 zarr==3.4.2
cd "$folder"
npm install --silent --no-audit --no-fund zarrita@0.7.5 @zarrita/storage@0.2.0

cat >write.py <<'PROGRAM'
import numpy as np
import tensorstore
import zarr

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}


def transpose(*order):
    return {"name": "transpose", "configuration": {"order": list(order)}}


SHARDS = {
    "name": "sharding_indexed",
    "configuration": {
        "chunk_shape": [1, 2],
        "codecs": [BYTES],
        "index_codecs": [BYTES, {"name": "crc32c"}],
    },
}
INSIDE = {"name": "sharding_indexed", "configuration": {**SHARDS["configuration"]}}
INSIDE["configuration"]["codecs"] = [transpose(1, 0), BYTES]
cases = {
    "one": ([2, 4], [transpose(1, 0), BYTES]),
    "inside": ([2, 4], [INSIDE]),
    "two": ([2, 4], [transpose(1, 0), transpose(1, 0), BYTES]),
    "cycle": ([2, 2, 3], [transpose(1, 2, 0), transpose(1, 0, 2), BYTES]),
    "outside": ([4, 4], [transpose(1, 0), SHARDS]),
}
for name, (shape, codecs) in cases.items():
    written = np.arange(np.prod(shape), dtype="u2").reshape(shape) + 1
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{name}/"}}
    grid = {"name": "regular", "configuration": {"chunk_shape": shape}}
    metadata = {"shape": shape, "data_type": "uint16", "chunk_grid": grid, "codecs": codecs}
    made = tensorstore.open({**spec, "create": True, "metadata": metadata}).result()
    made.write(written).result()
    by_tensorstore = tensorstore.open(spec).result().read().result()
    by_zarr_python = zarr.open_array(name, mode="r")[...]
    assert np.array_equal(by_tensorstore, written) and np.array_equal(by_zarr_python, written)
    print(name, "TensorStore, zarr-python", *written.ravel())
PROGRAM
cat >read.mjs <<'PROGRAM'
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

for (const name of process.argv.slice(2)) {
  let found;
  try {
    const array = await zarr.open(new FileSystemStore(name), { kind: "array" });
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
node read.mjs one inside two cycle outside >by-zarrita
seen=$(paste -d '\n' by-python by-zarrita)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarrita.js reads transposes in a row at other places. Expected:\n%s\n' \
        "$expected" >&2
    exit 1
fi
