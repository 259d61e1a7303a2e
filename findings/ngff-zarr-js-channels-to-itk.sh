#!/usr/bin/env bash
# ngff-zarr of npm makes ITK images of another size, with the width as the number of channels.
#
# OME-Zarr stores channels before space; ITK has them as components of a pixel, which come last.
# `ngffImageToItkImage` moves the name of the channel axis to the end, but neither its length nor
# the elements: 2 channels of 4 x 3 pixels become 3 x 2 pixels of 4 components, each a row of a
# single channel. The same function of ngff-zarr for Python transposes. No error, and the number of
# elements is the same, so that what comes after does not see it either. Images without channels
# are right.
#
# Versions: @fideus-labs/ngff-zarr 0.14.0 with zarrita 0.6.2 and @zarrita/storage 0.1.4 (npm),
#           ngff-zarr 0.50.0, itkwasm 1.0b201 (PyPI); needs Node.js 20 or newer with npm
# Source:   https://ngff.openmicroscopy.org/0.5/ (multiscales: the order of axes);
#           fideus-labs/ngff-zarr: ts/src/io/ngff_image_to_itk_image.ts (moveChannelDimToLast; a
#           remark in the source says that a transpose may be needed, the function's documentation
#           does not) and py/ngff_zarr/ngff_image_to_itk_image.py; no thread known
# Expected output:
#
#   zyx Python size 5 x 4 x 3 components 1 first 0
#   zyx npm size 5 x 4 x 3 components 1 first 0
#   cyx Python size 4 x 3 components 2 first 0 12
#   cyx npm size 3 x 2 components 4 first 0 1 2 3
#   czyx Python size 5 x 4 x 3 components 2 first 0 60
#   czyx npm size 4 x 3 x 2 components 5 first 0 1 2 3 4
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
    ngff-zarr==0.50.0 itkwasm==1.0b201
cd "$folder"
npm install --silent --no-audit --no-fund \
    @fideus-labs/ngff-zarr@0.14.0 zarrita@0.6.2 @zarrita/storage@0.1.4

cat >write.py <<'PROGRAM'
import ngff_zarr
import numpy as np

for dims, shape in (("zyx", (3, 4, 5)), ("cyx", (2, 3, 4)), ("czyx", (2, 3, 4, 5))):
    elements = np.arange(np.prod(shape), dtype="u1").reshape(shape)
    scale = {axis: 1.0 for axis in dims if axis != "c"}
    image = ngff_zarr.to_ngff_image(elements, dims=tuple(dims), scale=scale)
    levels = ngff_zarr.to_multiscales(image, scale_factors=[], chunks=64)
    # The JavaScript library reads arrays in shards without Web Workers, which Node.js has not.
    ngff_zarr.to_ngff_zarr(f"{dims}.ome.zarr", levels, version="0.5", chunks_per_shard=1)
    read = ngff_zarr.from_ngff_zarr(f"{dims}.ome.zarr").images[0]
    itk = ngff_zarr.ngff_image_to_itk_image(read, wasm=True)
    size = " x ".join(map(str, itk.size))
    of = itk.imageType.components
    print(f"{dims} Python size {size} components {of} first", *np.ravel(itk.data)[:of])
PROGRAM
cat >read.mjs <<'PROGRAM'
import { fromNgffZarr, ngffImageToItkImage } from "@fideus-labs/ngff-zarr";

for (const dims of ["zyx", "cyx", "czyx"]) {
  const { images } = await fromNgffZarr(`${dims}.ome.zarr`);
  const { size, imageType, data } = await ngffImageToItkImage(images[0]);
  const { components } = imageType;
  const first = Array.from(data).slice(0, components).join(" ");
  console.log(`${dims} npm size ${size.join(" x ")} components ${components} first ${first}`);
}
PROGRAM
venv/bin/python -W ignore write.py >by-python
node read.mjs >by-npm
seen=$(paste -d '\n' by-python by-npm)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: ngff-zarr of npm makes ITK images otherwise. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
