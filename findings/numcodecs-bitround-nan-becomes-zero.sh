#!/usr/bin/env bash
# The codec bitround of numcodecs, and so of zarr-python, turns some NaN into 0.
#
# It adds half of the last bit that is kept, to the bits taken as an integer, also where these are
# a NaN. If the upper bits of its mantissa are all set, the sum runs over into the sign: -NaN
# becomes 0.0 and NaN becomes -0.0, numbers like any other. 7fffffff is such a NaN: CUDA has it as
# its NaN of float32, `CUDART_NAN_F`. Any number of kept bits does it that is less than the type's.
# With `keepbits` 0, which numcodecs takes though the specification asks for 1 or more, the usual
# NaN become zero as well. There is no error and no warning, and nothing of it is in the codec's
# documentation.
#
# What was run: NaN of these bits through the codec alone, and through an array of Zarr v3. The
# specification of the codec says of floats that it "Preserves the sign and exponent". Rounding up
# may carry into the exponent of a number; neither the sign nor a NaN can be lost by it.
#
# Versions: numcodecs 0.17.1, zarr 3.4.2, numpy 2.5.5
# Source:   numcodecs/bitround.py, `BitRound.encode`, in zarr-developers/numcodecs;
#           https://github.com/zarr-developers/zarr-extensions/blob/main/codecs/bitround/README.md,
#           "Floating-point data types"; for the NaN of CUDA: `CUDART_NAN_F` in CUDA's
#           math_constants.h; no thread known
# Expected output:
#
#   float16 7e00 keepbits 5: nan becomes nan
#   float16 7fff keepbits 5: nan becomes -0.0
#   float16 ffff keepbits 5: nan becomes 0.0
#   float32 7fc00000 keepbits 10: nan becomes nan
#   float32 7fffffff keepbits 10: nan becomes -0.0
#   float32 ffffffff keepbits 10: nan becomes 0.0
#   float32 7fc00000 keepbits 22: nan becomes nan
#   float32 7fffffff keepbits 22: nan becomes -0.0
#   float32 ffffffff keepbits 22: nan becomes 0.0
#   float32 7fc00000 keepbits 0: nan becomes -0.0
#   float32 ffc00000 keepbits 0: nan becomes 0.0
#   float32 7fffffff keepbits 0: nan becomes -0.0
#   float64 7ff8000000000000 keepbits 20: nan becomes nan
#   float64 7fffffffffffffff keepbits 20: nan becomes -0.0
#   float64 ffffffffffffffff keepbits 20: nan becomes 0.0
#   Zarr v3 of 7fc00000: reads nan, NaN in it 4 of 4
#   Zarr v3 of 7fffffff: reads -0.0, NaN in it 0 of 4
#   Zarr v3 of ffffffff: reads 0.0, NaN in it 0 of 4
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
    numcodecs==0.17.1 zarr==3.4.2 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import numpy as np
import zarr
from numcodecs import BitRound
from zarr.codecs.numcodecs import BitRound as BitRoundV3

cases = [
    ("float16", "<u2", ("7e00", "7fff", "ffff"), 5),
    ("float32", "<u4", ("7fc00000", "7fffffff", "ffffffff"), 10),
    ("float32", "<u4", ("7fc00000", "7fffffff", "ffffffff"), 22),
    ("float32", "<u4", ("7fc00000", "ffc00000", "7fffffff"), 0),
    ("float64", "<u8", ("7ff8000000000000", "7fffffffffffffff", "ffffffffffffffff"), 20),
]
for name, bits, digits, kept in cases:
    for digit in digits:
        element = np.array([int(digit, 16)], bits).view(name)
        codec = BitRound(keepbits=kept)
        found = codec.decode(codec.encode(element)).view(name)
        print(f"{name} {digit} keepbits {kept}: {element[0]} becomes {found[0]}")
for digit in ("7fc00000", "7fffffff", "ffffffff"):
    made = {"shape": (4,), "chunks": (4,), "dtype": "float32", "fill_value": 1}
    array = zarr.create_array(f"{digit}.zarr", filters=[BitRoundV3(keepbits=10)], **made)
    array[...] = np.array([int(digit, 16)] * 4, "<u4").view("float32")
    values = zarr.open_array(f"{digit}.zarr", mode="r")[...]
    print(f"Zarr v3 of {digit}: reads {values[0]}, NaN in it {np.isnan(values).sum()} of 4")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: bitround turns some NaN into zero. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
