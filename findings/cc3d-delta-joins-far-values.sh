#!/usr/bin/env bash
# cc3d with `delta` joins pixels whose values are further apart than that.
#
# The documentation of `connected_components` says: values are connected whose difference is <=
# delta. With connectivity 8 an image of two axes that holds only 5 and 100 is one component at
# delta 10; with 4, by default, or as a volume, it is two. The test meant to save work asks
# whether the lower value is near the least of the image and the higher one near the greatest, not
# whether they are near each other. For signed integers the difference also wraps round the type:
# -100 and 100 in int8 are 200 apart, taken for -56, and are joined at delta 60. Nothing of this
# is an error.
#
# Versions: connected-components-3d 4.1.1, numpy 2.5.5
# Source: met when random images were compared with plain differences; no thread known;
# `connected_components2d_8` and `match` in cc3d/cc3d_continuous.hpp of
# seung-lab/connected-components-3d
# Expected output:
#
#   uint8 5 and 100, delta 10, components of 4, 8, 6, 26 neighbours: 2 1 2 2
#   uint16 5 and 100, delta 10, components of 4, 8, 6, 26 neighbours: 2 1 2 2
#   int32 5 and 100, delta 10, components of 4, 8, 6, 26 neighbours: 2 1 2 2
#   float32 5 and 100, delta 10, components of 4, 8, 6, 26 neighbours: 2 1 2 2
#   without a connectivity, two axes: [[1, 2]]
#   int8 -100 and 100 delta 60 components: 1
#   int16 -30000 and 30000 delta 6000 components: 1
#   int32 the same numbers, components: 2
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check connected-components-3d==4.1.1 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import cc3d
import numpy as np


def components(values, dtype, delta, connectivity, axes):
    image = np.array(values, dtype).reshape((1, 2, 1)[:axes])
    return int(cc3d.connected_components(image, delta=delta, connectivity=connectivity).max())


for dtype in ("uint8", "uint16", "int32", "float32"):
    found = [components([5, 100], dtype, 10, *how) for how in ((4, 2), (8, 2), (6, 3), (26, 3))]
    print(dtype, "5 and 100, delta 10, components of 4, 8, 6, 26 neighbours:", *found)
print("without a connectivity, two axes:", cc3d.connected_components(np.array([[5, 100]], "uint8"), delta=10).tolist())
for dtype, far, delta in (("int8", 100, 60), ("int16", 30000, 6000)):
    print(dtype, -far, "and", far, "delta", delta, "components:", components([-far, far], dtype, delta, 6, 3))
print("int32 the same numbers, components:", components([-100, 100], "int32", 60, 6, 3))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: cc3d with `delta` joins pixels whose values are further apart. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
