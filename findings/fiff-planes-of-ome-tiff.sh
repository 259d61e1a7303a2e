#!/usr/bin/env bash
# fiff shows an OME-TIFF as an OME-Zarr image with other planes in it.
#
# It takes each channel for a plane of its own. Where the channels of a pixel are stored together, as in colour images of
# microscopes, it reads green of the first z from red of the second, and so on; the last are an error. Where a file has
# several images, which need not have to do with each other, such as the fields of a plate or a scan and its label, those
# after the first are taken for its lower resolutions, though they have the same size or a larger one.
#
# Versions: @fideus-labs/fiff 0.7.0, zarrita 0.7.5, tifffile 2026.11.8, numpy 2.5.5; needs Node.js 20 or newer with npm
# Source:   met when layouts of OME-TIFF were crossed with readers that make Zarr of them; no thread known
# Expected output:
#
#   together: tifffile ZYXS (3, 16, 16, 3)
#   apart: tifffile ZCYX (3, 3, 16, 16)
#   images: tifffile YX (16, 16) YX (32, 32)
#   apart, channel 0 z 0: wrote 0 reads 0
#   apart, channel 1 z 0: wrote 1 reads 1
#   apart, channel 2 z 0: wrote 2 reads 2
#   apart, channel 0 z 1: wrote 10 reads 10
#   apart, channel 2 z 2: wrote 22 reads 22
#   together, channel 0 z 0: wrote 0 reads 0
#   together, channel 1 z 0: wrote 1 reads 10
#   together, channel 2 z 0: wrote 2 reads 20
#   together, channel 0 z 1: wrote 10 reads an error
#   together, channel 2 z 2: wrote 22 reads an error
#   images, level 0 of 1 image: 16 x 16 of 7
#   images, level 1 of 1 image: 32 x 32 of 9
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tifffile==2026.11.8 numpy==2.5.5
cd "$folder"
npm install --silent --no-audit --no-fund @fideus-labs/fiff@0.7.0 zarrita@0.7.5

cat >write.py <<'PROGRAM'
import numpy as np
import tifffile

# Element: 10 times its z, plus its channel.
colours = np.zeros((3, 16, 16, 3), "u1") + 10 * np.arange(3, dtype="u1")[:, None, None, None] + np.arange(3, dtype="u1")
tifffile.imwrite("together.ome.tif", colours, photometric="rgb", metadata={"axes": "ZYXS"})
apart = np.ascontiguousarray(np.moveaxis(colours, 3, 1))
tifffile.imwrite("apart.ome.tif", apart, photometric="minisblack", metadata={"axes": "ZCYX"})
with tifffile.TiffWriter("images.ome.tif", ome=True) as file:
    file.write(np.full((16, 16), 7, "u1"), metadata={"axes": "YX"})
    file.write(np.full((32, 32), 9, "u1"), metadata={"axes": "YX"})
for name in ("together", "apart", "images"):
    print(f"{name}: tifffile", *(f"{series.axes} {series.shape}" for series in tifffile.TiffFile(f"{name}.ome.tif").series))
PROGRAM
cat >read.mjs <<'PROGRAM'
import { readFileSync } from "node:fs";
import { TiffStore } from "@fideus-labs/fiff";
import * as zarr from "zarrita";

async function open(name) {
  const held = readFileSync(`${name}.ome.tif`);
  return TiffStore.fromArrayBuffer(held.buffer.slice(held.byteOffset, held.byteOffset + held.length));
}
const level = async (store, path) => zarr.open(zarr.root(store).resolve(path), { kind: "array" });
const values = (data) => [...new Set(data)].join(" ");

for (const name of ["apart", "together"]) {
  const store = await open(name);
  const array = await level(store, "0");
  for (const [c, z] of [[0, 0], [1, 0], [2, 0], [0, 1], [2, 2]]) {
    const at = array.dimensionNames.map((axis) => ({ c, z, t: 0 })[axis] ?? null);
    let found;
    try {
      found = values((await zarr.get(array, at)).data);
    } catch (error) {
      found = "an error";
    }
    console.log(`${name}, channel ${c} z ${z}: wrote ${10 * z + c} reads ${found}`);
  }
}
const store = await open("images");
const root = JSON.parse(new TextDecoder().decode(await store.get("zarr.json")));
for (const { path } of root.attributes.ome.multiscales[0].datasets) {
  const array = await level(store, path);
  console.log(`images, level ${path} of 1 image: ${array.shape.join(" x ")} of ${values((await zarr.get(array)).data)}`);
}
PROGRAM
seen=$(venv/bin/python -W ignore write.py && node read.mjs)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: fiff shows an OME-TIFF as an image with other planes. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
