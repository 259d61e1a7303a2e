#!/usr/bin/env bash
# crackle returns other labels for big-endian arrays, and for indices that begin with an ellipsis.
#
# `compress` takes an array of big-endian labels and stores its bytes as if they were
# little-endian: 1 becomes 256, without an error (compresso and fastremap refuse such arrays). A
# `CrackleArray` finds the slices of `[..., z]` rightly, but then uses the index as it stands on
# the slices read, where `...` has become the first axis and z is the second: it takes a row in
# place of a plane. numpy's meaning of `...` is as many full slices as there are axes left over.
#
# Versions: crackle-codec 0.55.0, numpy 2.5.5
# Source: met when byte orders and indices of numpy went through codecs of labels; no thread
# known; `compress` in crackle/codec.py, `CrackleArray.__getitem__` in crackle/array.py of
# seung-lab/crackle
# Expected output:
#
#   <u2 [1, 3] read [1, 3]
#   >u2 [1, 3] read [256, 768]
#   <u4 [1, 3] read [1, 3]
#   >u4 [1, 3] read [16777216, 50331648]
#   [:, :, 3] numpy (6, 7) crackle (6, 7) equal True
#   [..., 3] numpy (6, 7) crackle (6, 1) equal False
#   [:, :, 2:5] numpy (6, 7, 3) crackle (6, 7, 3) equal True
#   [..., 2:5] numpy (6, 7, 3) crackle (6, 3, 3) equal False
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check crackle-codec==0.55.0 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import crackle
import numpy as np

for dtype in ("<u2", ">u2", "<u4", ">u4"):
    labels = np.ones((4, 4, 4), dtype)
    labels[2:] = 3
    print(dtype, np.unique(labels).tolist(), "read", np.unique(crackle.decompress(crackle.compress(labels))).tolist())
labels = np.asfortranarray(np.arange(6 * 7 * 8, dtype="u4").reshape(6, 7, 8))
array = crackle.CrackleArray(crackle.compress(labels))
for name, index in (
    ("[:, :, 3]", np.s_[:, :, 3]), ("[..., 3]", np.s_[..., 3]),
    ("[:, :, 2:5]", np.s_[:, :, 2:5]), ("[..., 2:5]", np.s_[..., 2:5]),
):
    found = np.asarray(array[index])
    print(name, "numpy", labels[index].shape, "crackle", found.shape, "equal", np.array_equal(found, labels[index]))
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: crackle returns other labels. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
