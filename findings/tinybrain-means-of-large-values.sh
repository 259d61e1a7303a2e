#!/usr/bin/env bash
# tinybrain takes means that are below all elements, for 32 and 64 bits.
#
# With the usual factors of 2 the sum of large numbers of 64 bits overflows: the mean of equal ones is 0, a fraction of them
# or below zero. Any other factor rounds integers of 32 bits to 24, as floats of 32 bits do. No error.
#
# Versions: tinybrain 1.7.0, numpy 2.5.5
# Source:   met when downsampling was compared near the ends of all types; no thread known
# Expected output:
#
#   uint64 (2, 2, 1) all 9223372036854775808: mean 0
#   uint64 (2, 2, 2) all 18446744073709551615: mean 2305843009213693951
#   int64 (2, 2, 1) all 4611686018427387904: mean 0
#   int64 (2, 2, 1) all 9223372036854775807: mean -1
#   uint32 (2, 2, 1) all 4294967295: mean 4294967295
#   uint32 (2, 2, 1) all 16777217: mean 16777217
#   uint32 (3, 3, 1) all 16777217: mean 16777216
#   uint32 (3, 3, 1) all 2147483649: mean 2147483648
#   uint16 (3, 3, 1) all 65535: mean 65535
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tinybrain==1.7.0 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import numpy as np
import tinybrain

cases = [
    ("uint64", 2**63, (2, 2, 1)),
    ("uint64", 2**64 - 1, (2, 2, 2)),
    ("int64", 2**62, (2, 2, 1)),
    ("int64", 2**63 - 1, (2, 2, 1)),
    ("uint32", 2**32 - 1, (2, 2, 1)),
    ("uint32", 2**24 + 1, (2, 2, 1)),
    ("uint32", 2**24 + 1, (3, 3, 1)),
    ("uint32", 2**31 + 1, (3, 3, 1)),
    ("uint16", 2**16 - 1, (3, 3, 1)),
]
for name, number, factor in cases:
    elements = np.full((12, 12, 12, 1), number, name)
    (level,) = tinybrain.downsample_with_averaging(elements, factor, num_mips=1)
    print(f"{name} {factor} all {number}: mean {' '.join(map(str, np.unique(level)))}")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: tinybrain takes means that are below all elements. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
