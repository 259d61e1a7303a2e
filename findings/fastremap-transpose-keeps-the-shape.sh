#!/usr/bin/env bash
# fastremap's `transpose` of an array that is not square returns other elements than the
# transposed array.
#
# Documented as in-place transposition that returns the "transposed numpy array". It reorders the
# memory, and returns it with the shape from before: of shape (2, 3) it makes (2, 3), not (3, 2),
# and element [i, j] is not what was at [j, i]. Squares are right.
#
# Versions: fastremap 1.21.0, numpy 2.5.5
# Source: met when shapes were compared with numpy's; no thread known; `transpose` in
# fastremap/fastremap.pyx of seung-lab/fastremap
# Expected output:
#
#   (3, 3) numpy (3, 3) fastremap (3, 3) equal True
#   (2, 3) numpy (3, 2) fastremap (2, 3) equal False
#   (2, 3, 4) numpy (4, 3, 2) fastremap (2, 3, 4) equal False
#   [[0, 3, 1], [4, 2, 5]] for [[0, 3], [1, 4], [2, 5]]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check fastremap==1.21.0 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import fastremap
import numpy as np

for shape in ((3, 3), (2, 3), (2, 3, 4)):
    elements = np.arange(np.prod(shape)).reshape(shape)
    found = fastremap.transpose(elements.copy())
    print(shape, "numpy", elements.T.shape, "fastremap", found.shape, "equal", np.array_equal(found, elements.T))
print(fastremap.transpose(np.arange(6).reshape(2, 3)).tolist(), "for", np.arange(6).reshape(2, 3).T.tolist())
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: fastremap transposes into other elements. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
