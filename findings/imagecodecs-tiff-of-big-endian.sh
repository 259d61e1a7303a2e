#!/usr/bin/env bash
# imagecodecs writes a big-endian array as a TIFF with the bytes of each element the wrong way round.
#
# `tiff_encode` makes a little-endian file ("II") of any array and copies the elements' bytes as they are.
# Of a big-endian array, 1 is 256 in the file, and 1.5 as float32 is 6.9e-41, without an error or a warning.
# Every reader gives these numbers: tifffile, GDAL and imagecodecs' own decoder. Its other encoders either
# say that big-endian arrays are not supported (PNG, JPEG 2000, JPEG LS, AVIF, BMP), or
# write the right numbers (JPEG XL). FITS, netCDF-3 and raw files are read as big-endian arrays by NumPy.
#
# What should be: the numbers of the array, as with tifffile's `imwrite` of the same array below, or the
# error of the other encoders. The docstring says "Return TIFF encoded image" and no more.
#
# Versions: imagecodecs 2026.10.10, tifffile 2026.11.8, rasterio 1.5.2 (GDAL 3.12.2), numpy 2.5.5; on a
#           little-endian machine; seen on 2026-12-01
# Source:   https://github.com/cgohlke/imagecodecs; no thread known
# Expected output:
#
#   uint16 tifffile's by tifffile: 1 2 3; by GDAL: 1 2 3
#   uint16 tiff_encode by tifffile: 1 2 3; by GDAL: 1 2 3; by tiff_decode: 1 2 3
#   >u2 tifffile's by tifffile: 1 2 3; by GDAL: 1 2 3
#   >u2 tiff_encode by tifffile: 256 512 768; by GDAL: 256 512 768; by tiff_decode: 256 512 768
#   >f4 tifffile's by tifffile: 1 2 3; by GDAL: 1 2 3
#   >f4 tiff_encode by tifffile: 4.6e-41 9e-44 2.3e-41; by GDAL: 4.6e-41 9e-44 2.3e-41; by tiff_decode: 4.6e-41 9e-44 2.3e-41
#   >u2 png_encode: ValueError: big-endian byte order not supported
#   >u2 jpegxl_encode: 1 2 3
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
    imagecodecs==2026.10.10 tifffile==2026.11.8 rasterio==1.5.2 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import imagecodecs
import numpy
import rasterio
import tifffile


def words(values):
    return " ".join(f"{value:.2g}" if value < 1 else str(int(value)) for value in values.ravel())


def read(path):
    with rasterio.open(path) as opened:
        by_gdal = opened.read(1)
    return f"by tifffile: {words(tifffile.imread(path))}; by GDAL: {words(by_gdal)}"


for dtype in ("uint16", ">u2", ">f4"):
    elements = numpy.array([[1, 2, 3]], dtype)
    tifffile.imwrite("a.tif", elements, photometric="minisblack")
    print(f"{dtype} tifffile's {read('a.tif')}")
    encoded = imagecodecs.tiff_encode(elements)
    with open("b.tif", "wb") as opened:
        opened.write(encoded)
    by_itself = words(imagecodecs.tiff_decode(encoded))
    print(f"{dtype} tiff_encode {read('b.tif')}; by tiff_decode: {by_itself}")
elements = numpy.array([[1, 2, 3]], ">u2")
for name in ("png", "jpegxl"):
    encode = getattr(imagecodecs, f"{name}_encode")
    decode = getattr(imagecodecs, f"{name}_decode")
    try:
        found = words(decode(encode(elements)))
    except ValueError as error:
        found = f"ValueError: {error}"
    print(f">u2 {name}_encode: {found}")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: what imagecodecs writes into a TIFF of a big-endian array. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
