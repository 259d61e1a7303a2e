#!/usr/bin/env bash
# Python-Blosc2 gives what an expression selects in the order of chunks, and a mask in NumPy's order.
#
# `array[array > 5]` and `array[mask]`, with the same mask as a NumPy array, select the same elements. The
# first gives them chunk by chunk, wherever a chunk is not as wide as the array; the second in NumPy's
# order. So the order, and with it which element stands beside which, depends on how the arrays are cut:
# below, what is selected from `values` and from `weights` by conditions that are true at the same
# elements does not match, and a sum of products over the pairs is another one. No error, no warning.
#
# What should be: the documentation of `NDArray.__getitem__` says that it "closely matches NumPy fancy
# indexing behaviour", names an edge case that this is not, and says of an expression that the result is
# the values "where the expression is True". It says nothing of another order. NumPy, and `array[mask]`
# here, give row-major order.
# What helps: `array[expression.compute()[:]]`.
#
# Versions: blosc2 4.14.1, numpy 2.5.5; seen on 2026-12-01
# Source:   https://github.com/Blosc/python-blosc2 (src/blosc2/ndarray.py and lazyexpr.py); no thread known
# Expected output:
#
#   NumPy: 6 7 8 9 10 11 12 13 14 15
#   chunks 4 x 4, expression: 6 7 8 9 10 11 12 13 14 15
#   chunks 4 x 4, mask: 6 7 8 9 10 11 12 13 14 15
#   chunks 4 x 4, computed expression: 6 7 8 9 10 11 12 13 14 15
#   chunks 1 x 4, expression: 6 7 8 9 10 11 12 13 14 15
#   chunks 1 x 4, mask: 6 7 8 9 10 11 12 13 14 15
#   chunks 1 x 4, computed expression: 6 7 8 9 10 11 12 13 14 15
#   chunks 2 x 2, expression: 6 7 8 9 12 13 10 11 14 15
#   chunks 2 x 2, mask: 6 7 8 9 10 11 12 13 14 15
#   chunks 2 x 2, computed expression: 6 7 8 9 10 11 12 13 14 15
#   chunks 4 x 2, expression: 8 9 12 13 6 7 10 11 14 15
#   chunks 4 x 2, mask: 6 7 8 9 10 11 12 13 14 15
#   chunks 4 x 2, computed expression: 6 7 8 9 10 11 12 13 14 15
#   sum of products, NumPy: 11850
#   sum of products, expressions: 11770
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

elements = numpy.arange(16).reshape(4, 4)
mask = elements > 5


def cut(array, *chunks):
    return blosc2.asarray(array, chunks=chunks, blocks=chunks)


def selected(array, key):
    return numpy.asarray(array[key][:])


print("NumPy:", *elements[mask])
for chunks in ((4, 4), (1, 4), (2, 2), (4, 2)):
    array = cut(elements, *chunks)
    name = f"chunks {chunks[0]} x {chunks[1]},"
    print(name, "expression:", *selected(array, array > 5))
    print(name, "mask:", *selected(array, mask))
    print(name, "computed expression:", *selected(array, (array > 5).compute()[:]))

values = cut(elements, 4, 4)
weights = cut(elements * 10, 2, 2)
pairs = selected(values, values > 5) * selected(weights, weights > 50)
print("sum of products, NumPy:", (elements[mask] * elements[mask] * 10).sum())
print("sum of products, expressions:", pairs.sum())
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: the order of what Python-Blosc2 selects. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
