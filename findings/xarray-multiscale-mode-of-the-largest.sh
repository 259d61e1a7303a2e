#!/usr/bin/env bash
# xarray-multiscale's mode does not see the largest unsigned label, nor -1.
#
# Labels that mark what is unknown in many images, the largest number of an unsigned type and -1 of a signed one, lose against
# any other one, though most elements of the window have them: the function adds 1 to all, takes 0 for none, and subtracts 1
# at the end. The package uses it for windows of up to 16 elements, and its other one, on top of SciPy, for larger ones. And
# the mean of equal integers of 64 bits is another number from 2 to the 53rd on. No error.
#
# Versions: xarray-multiscale 2.1.0, numpy 2.5.5, scipy 1.18.1
# Source:   met when downsampling of labels was compared near the ends of all types; no thread known
# Expected output:
#
#   uint8 255 255 0 3: mode 3, by SciPy 255
#   uint8 255 255 255 3: mode 3, by SciPy 255
#   uint16 65535 65535 0 3: mode 3, by SciPy 65535
#   uint16 65535 65535 65535 3: mode 3, by SciPy 65535
#   uint32 4294967295 4294967295 0 3: mode 3, by SciPy 4294967295
#   uint32 4294967295 4294967295 4294967295 3: mode 3, by SciPy 4294967295
#   uint64 18446744073709551615 18446744073709551615 0 3: mode 3, by SciPy 18446744073709551615
#   uint64 18446744073709551615 18446744073709551615 18446744073709551615 3: mode 3, by SciPy 18446744073709551615
#   int64 -1 -1 0 3: mode 3, by SciPy -1
#   int64 -1 -1 -1 3: mode 3, by SciPy -1
#   int64 all 9007199254740993: mean 9007199254740992
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check xarray-multiscale==2.1.0 numpy==2.5.5 scipy==1.18.1
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import numpy as np
from xarray_multiscale import multiscale, windowed_mean, windowed_mode
from xarray_multiscale.reducers import windowed_mode_scipy

for name in ("uint8", "uint16", "uint32", "uint64", "int64"):
    label = np.iinfo(name).max if name != "int64" else -1
    for window in ([label, label, 0, 3], [label, label, label, 3]):
        labels = np.array(window, name).reshape(2, 2)
        by_scipy = windowed_mode_scipy(labels, (2, 2))[0, 0]
        level = multiscale(np.tile(labels, (4, 4)), windowed_mode, (2, 2))[1].values[0, 0]
        print(f"{name} {' '.join(map(str, window))}: mode {level}, by SciPy {by_scipy}")
equal = np.full((8, 8), 2**53 + 1, "int64")
print(f"int64 all {2**53 + 1}: mean {multiscale(equal, windowed_mean, (2, 2))[1].values[0, 0]}")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: the mode of xarray-multiscale does not see the largest label. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
