#!/usr/bin/env bash
# ITK's BinShrink makes the mean of equal integers of 32 bits another, even negative, number.
#
# A mean of equal numbers is that number, and ITK adds up in floating point, which holds each of
# these exactly. Rounding to the type of the image is what fails: natively (x86-64) it doubles the
# value in 32 signed bits, so from 2^30 on all results are -2^30, or 3 * 2^30 if unsigned. The
# same filter in WebAssembly cuts unsigned values to 2^31. The two differ from each other, too;
# multiscale writers offer both as methods. There is no error.
#
# Versions: simpleitk 2.5.7, itkwasm-downsample 2.0.2, itkwasm 1.0b201, numpy 2.5.5
# Source: met when means of constant images were taken by all downsamplers; SimpleITK#1451 has it
# of the filter Round; `RoundHalfIntegerUp_32` in Modules/Core/Common/include/itkMathDetail.h of
# InsightSoftwareConsortium/ITK
# Expected output:
#
#   int32 mean of 1073741823 SimpleITK 1073741823 itkwasm 1073741823
#   int32 mean of 1073741824 SimpleITK -1073741824 itkwasm 1073741824
#   int32 mean of 2147483647 SimpleITK -1073741824 itkwasm 2147483647
#   uint32 mean of 1073741823 SimpleITK 1073741823 itkwasm 1073741823
#   uint32 mean of 1073741824 SimpleITK 3221225472 itkwasm 1073741824
#   uint32 mean of 2147483648 SimpleITK 3221225472 itkwasm 2147483648
#   uint32 mean of 3000000000 SimpleITK 3221225472 itkwasm 2147483648
#   uint32 mean of 4294967295 SimpleITK 3221225472 itkwasm 2147483648
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check simpleitk==2.5.7 itkwasm-downsample==2.0.2 itkwasm==1.0b201 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import itkwasm
import numpy as np
import SimpleITK
from itkwasm_downsample import downsample_bin_shrink

for dtype, values in (
    ("int32", (2**30 - 1, 2**30, 2**31 - 1)),
    ("uint32", (2**30 - 1, 2**30, 2**31, 3 * 10**9, 2**32 - 1)),
):
    for value in values:
        image = np.full((4, 4), value, dtype)
        native = SimpleITK.GetArrayFromImage(SimpleITK.BinShrink(SimpleITK.GetImageFromArray(image), [2, 2]))
        wasm = downsample_bin_shrink(itkwasm.image_from_array(image), [2, 2], False).data
        print(dtype, "mean of", value, "SimpleITK", native.ravel()[0], "itkwasm", np.asarray(wasm).ravel()[0])
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: BinShrink of ITK makes other numbers of large ones. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
