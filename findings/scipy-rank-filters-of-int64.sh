#!/usr/bin/env bash
# scipy.ndimage's filters that only choose an element, choose it among floats: labels beyond 2^53 become others.
#
# A median, a minimum or a maximum of a window is one of its elements. scipy takes every element as a float64, so a 64-bit
# integer comes back as another number, without a warning, also where all elements of the window are equal. Segmentations
# have such labels: an identifier of a connectomics volume has 64 bits.
#
# Versions: scipy 1.18.1, numpy 2.5.3
# Source:   met when medians of int64 were compared; no thread known
# Expected output:
#
#   median_filter int64 off by 1
#   minimum_filter int64 off by 1
#   maximum_filter int64 off by 1
#   grey_erosion int64 off by 1
#   rank_filter uint64 off by 1
#   percentile_filter uint64 off by 1
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check scipy==1.18.1 numpy==2.5.3
cd "$folder"

seen=$(venv/bin/python -W error - <<'PROGRAM'
import numpy as np
from scipy import ndimage

label = 2**53 + 1
for name, kind, more in [
    ("median_filter", np.int64, {}),
    ("minimum_filter", np.int64, {}),
    ("maximum_filter", np.int64, {}),
    ("grey_erosion", np.int64, {}),
    ("rank_filter", np.uint64, {"rank": 4}),
    ("percentile_filter", np.uint64, {"percentile": 50}),
]:
    volume = np.full((5, 5), label, dtype=kind)
    found = getattr(ndimage, name)(volume, size=3, **more)
    assert found.dtype == volume.dtype
    off = {abs(int(value) - label) for value in found.ravel()}
    print(name, volume.dtype, "off by", *sorted(off))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: scipy.ndimage chooses elements of 64-bit integers among floats. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
