#!/usr/bin/env bash
# zarrita.js takes the last bytes of a shard for its index, even where the index is at the start.
#
# The specification lets `index_location` be "start"; TensorStore and zarr-python read it.
# zarrita.js does not look at it: the elements at the end of the shard become offsets and lengths.
# Mostly these are so large that reading is an error. If the elements there have all bits set, such
# as -1 or the largest unsigned number for "no data", all chunks of the shard are taken for absent:
# the fill value is read in the place of what was stored, without an error ("half": 1 to 32, then
# -1). The checksum of the index would tell, but it is not compared.
#
# Versions: zarrita 0.7.5, @zarrita/storage 0.2.0, tensorstore 0.1.86, zarr 3.4.2 (PyPI);
#           needs Node.js 20 or newer with npm
# Source:   https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html
#           (configuration parameters); manzt/zarrita.js:
#           packages/zarrita/src/codecs/sharding.ts (suffixLength), crc32c.ts (decode); met when
#           layouts of shards were crossed with readers; issue 424 there is about the checksum only
# Expected output:
#
#   counted-end TensorStore sum of halves 528 1552
#   counted-end zarr-python sum of halves 528 1552
#   counted-start TensorStore sum of halves 528 1552
#   counted-start zarr-python sum of halves 528 1552
#   half-end TensorStore sum of halves 528 -32
#   half-end zarr-python sum of halves 528 -32
#   half-start TensorStore sum of halves 528 -32
#   half-start zarr-python sum of halves 528 -32
#   counted-end zarrita.js sum of halves 528 1552
#   counted-start zarrita.js RangeError
#   half-end zarrita.js sum of halves 528 -32
#   half-start zarrita.js sum of halves 0 0
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
count = np.arange(1, 65, dtype="i2")
values = {"counted": count, "half": np.where(count <= 32, count, -1).astype("i2")}
for name, written in values.items():
    for place in ("end", "start"):
        shards = {
            "chunk_shape": [32],
            "codecs": [BYTES],
            "index_codecs": [BYTES, {"name": "crc32c"}],
            "index_location": place,
        }
        metadata = {
            "shape": [64],
            "data_type": "int16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [64]}},
            "codecs": [{"name": "sharding_indexed", "configuration": shards}],
            "fill_value": 0,
        }
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{name}-{place}/"}}
        made = tensorstore.open({**spec, "create": True, "metadata": metadata}).result()
        made.write(written).result()
        for library, found in (
            ("TensorStore", tensorstore.open(spec).result().read().result()),
            ("zarr-python", zarr.open_array(f"{name}-{place}", mode="r")[...]),
        ):
            print(f"{name}-{place} {library} sum of halves {found[:32].sum()} {found[32:].sum()}")
PROGRAM
cat >read.mjs <<'PROGRAM'
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

const sum = (elements) => elements.reduce((a, b) => a + b, 0);
for (const name of ["counted-end", "counted-start", "half-end", "half-start"]) {
  let found;
  try {
    const array = await zarr.open(new FileSystemStore(name), { kind: "array" });
    const { data } = await zarr.get(array);
    found = `sum of halves ${sum(data.slice(0, 32))} ${sum(data.slice(32))}`;
  } catch (error) {
    found = error.name;
  }
  console.log(`${name} zarrita.js ${found}`);
}
PROGRAM
seen=$(venv/bin/python -W ignore write.py && node read.mjs)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: zarrita.js reads shards with the index at the start. Expected:\n%s\n' \
        "$expected" >&2
    exit 1
fi
