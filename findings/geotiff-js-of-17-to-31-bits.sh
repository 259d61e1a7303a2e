#!/usr/bin/env bash
# geotiff.js reads unsigned integers of 17 to 31 bits as other numbers, or not at all.
#
# Samples of a TIFF may have any number of bits; GDAL writes them with NBITS, to save space, and they are
# packed without gaps. geotiff.js has two faults there, neither with an error but for 24 bits:
# - Samples of 17 to 23 bits are unpacked into four bytes each, and are then read at every third byte: all
#   but every fourth are other numbers, far above what the bits can hold. Those of 24 bits are read by
#   four bytes at every third one, up to behind the end: all of the image is refused.
# - Samples of 27, 29, 30 and 31 bits are taken out of the four bytes from the one that they begin in, also
#   where they reach into a fifth.
# Up to 16 bits, and with 25, 26, 28 and 32, what is read is right.
#
# What should be: baseline TIFF says that BitsPerSample is a number of bits and leaves it open; geotiff.js
# has read other than whole bytes since pull request 135, which says: for integers of up to 32 bits.
# GDAL and tifffile read all of the files below alike.
#
# Versions: geotiff 3.0.5 (npm), rasterio 1.5.2 (GDAL 3.12.2), tifffile 2026.11.8, imagecodecs 2026.10.10
#           (PyPI); needs Node.js 20 or newer with npm; seen on 2026-12-01
# Source:   `normalizeArray` in src/geotiffimage.js of https://github.com/geotiffjs/geotiff.js; issues 202
#           and 357 there are about several bands of fewer bits
# Expected output:
#
#   12 bits GDAL, tifffile 1 2 3 4 5 6 7 8
#   12 bits geotiff.js 1 2 3 4 5 6 7 8
#   17 bits GDAL, tifffile 1 2 3 4 5 6 7 8
#   17 bits geotiff.js 1 512 196608 67108864 4 1280 393216 117440512
#   20 bits GDAL, tifffile 1 2 3 4 5 6 7 8
#   20 bits geotiff.js 1 512 196608 67108864 4 1280 393216 117440512
#   24 bits GDAL, tifffile 1 2 3 4 5 6 7 8
#   24 bits geotiff.js RangeError
#   28 bits GDAL, tifffile 1 2 3 4 5 6 7 8
#   28 bits geotiff.js 1 2 3 4 5 6 7 8
#   31 bits GDAL, tifffile 1 2 3 4 5 6 7 8
#   31 bits geotiff.js 1 0 1 1 2 2147483646 2147483647 8
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    rasterio==1.5.2 tifffile==2026.11.8 imagecodecs==2026.10.10
cd "$folder"
npm install --silent --no-audit --no-fund geotiff@3.0.5

cat >write.py <<'PROGRAM'
import sys

import numpy
import rasterio
import tifffile

for bits in map(int, sys.argv[1:]):
    dtype = "uint16" if bits <= 16 else "uint32"
    elements = numpy.arange(1, 9, dtype=dtype).reshape(1, 8)
    path = f"{bits}.tif"
    profile = {"driver": "GTiff", "width": 8, "height": 1, "count": 1, "dtype": dtype}
    with rasterio.open(path, "w", NBITS=bits, **profile) as opened:
        opened.write(elements, 1)
    with rasterio.open(path) as opened:
        assert numpy.array_equal(opened.read(1), elements)
    assert numpy.array_equal(tifffile.imread(path), elements)
    print(bits, "bits GDAL, tifffile", *elements.ravel())
PROGRAM
cat >read.mjs <<'PROGRAM'
import { readFileSync } from "node:fs";
import { fromArrayBuffer } from "geotiff";

for (const bits of process.argv.slice(2)) {
  const held = readFileSync(`${bits}.tif`);
  const bytes = held.buffer.slice(held.byteOffset, held.byteOffset + held.length);
  let found;
  try {
    const image = await (await fromArrayBuffer(bytes)).getImage();
    const [band] = await image.readRasters();
    found = band.join(" ");
  } catch (error) {
    found = error.name;
  }
  console.log(`${bits} bits geotiff.js ${found}`);
}
PROGRAM
bits="12 17 20 24 28 31"
# shellcheck disable=SC2086
venv/bin/python -W ignore write.py $bits >by-python
# shellcheck disable=SC2086
node read.mjs $bits >by-geotiff
seen=$(paste -d '\n' by-python by-geotiff)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: what geotiff.js reads of samples of 17 to 31 bits. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
