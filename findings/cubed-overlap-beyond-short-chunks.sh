#!/usr/bin/env bash
# Cubed's `map_overlap` leaves out a part of the border if a chunk is shorter than the depth.
#
# A chunk beside the last one needs elements of the last chunk, and beyond it of the border. Cubed
# adds the border to the first and the last chunk only, so the function is handed too few elements.
# What it makes of them is too short: where one element is left it is spread over the whole chunk,
# without an error, and otherwise NumPy's broadcasting is an error. Whether a result is right
# depends on the chunks alone: of an array of 7 and a depth of 2, chunks of 7, 5 and 4 are right.
# Where an array's length is no multiple of the chunks' the last chunk is short in this way.
#
# What should be: sums over five neighbours, two on either side, with zeros outside, are the same
# for all chunks. For the last but one that is 4 + 5 + 6 + 7 + 0 = 22. dask, whose `map_overlap`
# Cubed's follows, rechunks where chunks are shorter than the depth, and gives this for all chunks.
#
# Versions: cubed 0.28.0, numpy 2.5.5, dask 2026.8.0
# Source:   `_pad_boundaries` in cubed/array/overlap.py of https://github.com/cubed-dev/cubed; the
#           docstring of `map_overlap` says nothing of it; dask mended its like in
#           https://github.com/dask/dask/issues/6597
# Expected output:
#
#   NumPy: 6 10 15 20 25 22 18
#   dask, chunks of 7, 5, 4, 3, 2, 1: 6 10 15 20 25 22 18
#   Cubed, chunks of 7: 6 10 15 20 25 22 18
#   Cubed, chunks of 5: 6 10 15 20 25 22 18
#   Cubed, chunks of 4: 6 10 15 20 25 22 18
#   Cubed, chunks of 3: ValueError
#   Cubed, chunks of 2: 6 10 15 20 25 25 18
#   Cubed, chunks of 1: ValueError
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
    cubed==0.28.0 numpy==2.5.5 dask==2026.8.0
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import cubed
import dask.array
import numpy


def sums(block):
    return numpy.lib.stride_tricks.sliding_window_view(block, 5).sum(axis=-1)


def text(elements):
    return " ".join(str(int(element)) for element in elements)


elements = numpy.arange(1, 8)
sizes = (7, 5, 4, 3, 2, 1)
print("NumPy:", text(sums(numpy.pad(elements, 2))))
by_dask = set()
for size in sizes:
    # dask keeps the border with trim=False, and the chunks must be those that `sums` returns.
    wide = dask.array.overlap.overlap(dask.array.from_array(elements, chunks=size), {0: 2}, {0: 0})
    inner = tuple(length - 4 for length in wide.chunks[0])
    by_dask.add(text(wide.map_blocks(sums, dtype="int64", chunks=(inner,)).compute()))
print(f"dask, chunks of {', '.join(map(str, sizes))}:", *by_dask)
for size in sizes:
    array = cubed.from_array(elements, chunks=size)
    try:
        seen = cubed.map_overlap(
            sums, array, dtype="int64", chunks=array.chunks, depth=2, boundary=0, trim=False
        )
        print(f"Cubed, chunks of {size}:", text(seen.compute()))
    except ValueError:
        print(f"Cubed, chunks of {size}: ValueError")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: the border that Cubed leaves out. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
