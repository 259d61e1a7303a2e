#!/usr/bin/env bash
# Python-Blosc2 computes with the bytes of big-endian arrays as if they were little-endian.
#
# `blosc2.asarray` takes a big-endian NumPy array, keeps its data type (">i4"), and gives the right
# elements back. Expressions and reductions on it take the stored bytes for numbers of the machine's own
# order: a comparison is true or false for other elements, sums are other numbers, and 1 to 4 as doubles
# plus 1 are all 1. No error and no warning. The first two elements of the same expression are right if
# no more than these are asked for, and so is argmax: it depends on the code that computes it.
# FITS and netCDF-3 files, and many raw ones, are read as big-endian arrays.
#
# What should be: an operation gives what the same one gives on the NumPy array, at least what it gives on
# its own slices. The documentation of `asarray` takes any array with NumPy's interface; that of the data
# type says "in NumPy format". Neither names a byte order.
# What helps: `.astype(array.dtype.newbyteorder("="))` before `asarray`.
#
# Versions: blosc2 4.14.1, numpy 2.5.5; on a little-endian machine; seen on 2026-12-01
# Source:   https://github.com/Blosc/python-blosc2; no thread known there (c-blosc2's 534 says that the
#           library below swaps no bytes, and leaves them to NumPy)
# Expected output:
#
#   int32 kept as int32: 1 2 3 4
#     plus 1: 2 3 4 5, the first two alone: 2 3
#     above 2: False False True True
#     sum: 10, argmax: 3
#   >i4 kept as >i4: 1 2 3 4
#     plus 1: 16777217 33554433 50331649 67108865, the first two alone: 2 3
#     above 2: True True True True
#     sum: 167772160, argmax: 3
#   >f8 kept as >f8: 1 2 3 4
#     plus 1: 1 1 1 1, the first two alone: 2 3
#     above 2: False False False False
#     sum: 0, argmax: 3
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check blosc2==4.14.1 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import blosc2
import numpy


def words(values):
    values = numpy.atleast_1d(values)
    return " ".join(map(str, values if values.dtype == bool else numpy.round(values).astype(int)))


for dtype in ("int32", ">i4", ">f8"):
    elements = numpy.arange(1, 5).astype(dtype)
    array = blosc2.asarray(elements)
    print(f"{elements.dtype} kept as {array.dtype}: {words(array[:])}")
    plus = array + 1
    print(f"  plus 1: {words(plus[:])}, the first two alone: {words(plus[:2])}")
    print("  above 2:", words((array > 2)[:]))
    print(f"  sum: {words(array.sum())}, argmax: {words(blosc2.argmax(array))}")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: what Python-Blosc2 computes from big-endian arrays. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
