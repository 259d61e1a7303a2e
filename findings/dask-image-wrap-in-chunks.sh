#!/usr/bin/env bash
# dask-image's filters with mode="wrap" give other numbers at the edges of what has several chunks.
#
# With `wrap`, what is beyond one edge of an image is the image from its other edge. dask-image gives each
# chunk, with its overlap, to the filter of scipy.ndimage and passes it the mode: the chunk's own other
# edge is taken for the image's. So the first and last elements depend on how the array is cut, without an
# error or a warning. `convolve` and `correlate` were mended in 2021; every other filter with a `mode` is
# as it was: in the list below they are right in one chunk and wrong in two. Periodic images are what the
# mode is for: longitudes, simulations, tiles.
# The example has 9 at the last of eight elements, whose neighbours are element 6 and, by wrapping, 0.
#
# What should be: dask-image's documentation of each filter is a copy of scipy's, which explains `wrap`
# as an extension "by wrapping around to the opposite edge". Its notes on what it does not support name
# modes of `affine_transform`, and none of filters.
#
# Versions: dask-image 2026.5.0, dask 2026.8.0, scipy 1.18.1, numpy 2.5.5; seen on 2026-12-01
# Source:   `uniform_filter` in dask_image/ndfilters/_smooth.py of https://github.com/dask/dask-image,
#           and its neighbours; issue 242 and pull request 243 there are about convolve and correlate
# Expected output:
#
#   maximum_filter scipy 9 0 0 0 0 0 9 9
#   maximum_filter one chunk 9 0 0 0 0 0 9 9
#   maximum_filter two chunks 0 0 0 0 0 0 9 9
#   uniform_filter scipy 3 0 0 0 0 0 3 3
#   uniform_filter one chunk 3 0 0 0 0 0 3 3
#   uniform_filter two chunks 0 0 0 0 0 0 3 3
#   convolve scipy 9 0 0 0 0 0 9 9
#   convolve one chunk 9 0 0 0 0 0 9 9
#   convolve two chunks 9 0 0 0 0 0 9 9
#   as scipy in one chunk: convolve correlate gaussian_filter gaussian_gradient_magnitude
#     gaussian_laplace generic_filter laplace maximum_filter median_filter minimum_filter
#     percentile_filter prewitt rank_filter sobel uniform_filter
#   as scipy in two chunks: convolve correlate
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
    dask-image==2026.5.0 dask==2026.8.0 scipy==1.18.1 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import textwrap

import dask.array
import dask_image.ndfilters
import numpy
import scipy.ndimage

OPTIONS = {
    "convolve": {"weights": numpy.ones(3)},
    "correlate": {"weights": numpy.ones(3)},
    "gaussian_filter": {"sigma": 0.5},
    "gaussian_gradient_magnitude": {"sigma": 0.5},
    "gaussian_laplace": {"sigma": 0.5},
    "generic_filter": {"function": numpy.max, "size": 3},
    "laplace": {},
    "maximum_filter": {"size": 3},
    "median_filter": {"size": 3},
    "minimum_filter": {"size": 3},
    "percentile_filter": {"percentile": 50, "size": 3},
    "prewitt": {},
    "rank_filter": {"rank": 1, "size": 3},
    "sobel": {},
    "uniform_filter": {"size": 3},
}
CHUNKS = {"one": 8, "two": 4}
single = numpy.array([0.0] * 7 + [9.0])
mixed = numpy.array([5.0, 9.0, 2.0, 8.0, 7.0, 3.0, 6.0, 1.0])


def by_scipy(name, image):
    return getattr(scipy.ndimage, name)(image, mode="wrap", **OPTIONS[name])


def by_dask(name, image, chunks):
    chunked = dask.array.from_array(image, chunks=chunks)
    return getattr(dask_image.ndfilters, name)(chunked, mode="wrap", **OPTIONS[name]).compute()


def show(name, how, values):
    print(name, how, *numpy.round(values).astype(int))


for name in ("maximum_filter", "uniform_filter", "convolve"):
    show(name, "scipy", by_scipy(name, single))
    for word, chunks in CHUNKS.items():
        show(name, f"{word} chunk{'s' * (word == 'two')}", by_dask(name, single, chunks))
for word, chunks in CHUNKS.items():
    same = [
        name
        for name in OPTIONS
        if numpy.allclose(by_dask(name, mixed, chunks), by_scipy(name, mixed))
    ]
    text = f"as scipy in {word} chunk{'s' * (word == 'two')}: {' '.join(same)}"
    print(textwrap.fill(text, 90, subsequent_indent="  "))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: what the filters of dask-image give with mode="wrap". Expected:\n%s\n' "$expected" >&2
    exit 1
fi
