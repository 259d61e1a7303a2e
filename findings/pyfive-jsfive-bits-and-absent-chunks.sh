#!/usr/bin/env bash
# pyfive and jsfive read integers of HDF5 with fewer bits than their bytes hold as other numbers.
#
# An integer of HDF5 has an offset and a precision, such as the 12 bits of a camera in two bytes, moved up by four to use the
# whole range: HDF5 gives the number, these two readers, which do without HDF5's own library, the two bytes. And of a dataset
# with chunks that were never written pyfive reads nothing at all (a KeyError), while in jsfive the elements are `undefined`,
# which arithmetic makes NaN, and not the dataset's fill value.
#
# Versions: pyfive 1.3.0, jsfive 0.4.2, h5py 3.16.0; needs Node.js 20 or newer with npm
# Source:   met when types and layouts of HDF5 were crossed with readers that do not use its library; no thread known
# Expected output:
#
#   whole h5py [1, 2, -3] pyfive [1, 2, -3] jsfive [1, 2, -3]
#   unsigned h5py [1, 2, 4095] pyfive [16, 32, 65520] jsfive [16, 32, 65520]
#   signed h5py [1, 2, -3] pyfive [1, 2, 4093] jsfive [1, 2, 4093]
#   absent h5py [5, 5, -7, -7] pyfive KeyError jsfive [5, 5, undefined, undefined]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyfive==1.3.0 h5py==3.16.0
cd "$folder"
npm install --silent --no-audit --no-fund jsfive@0.4.2

cat >read.py <<'PROGRAM'
import h5py
import numpy as np
import pyfive
from h5py import h5d, h5s, h5t

with h5py.File("a.h5", "w") as file:
    kinds = ((b"whole", h5t.STD_I16LE, 16, 0), (b"unsigned", h5t.STD_U16LE, 12, 4), (b"signed", h5t.STD_I16LE, 12, 0))
    for name, kind, bits, offset in kinds:
        kind = kind.copy()
        kind.set_precision(bits)
        kind.set_offset(offset)
        made = h5d.create(file.id, name, kind, h5s.create_simple((3,)))
        made.write(h5s.ALL, h5s.ALL, np.array([1, 2, -3 if name != b"unsigned" else 4095], "<i2"))
    file.create_dataset("absent", shape=(4,), chunks=(2,), dtype="<i2", fillvalue=-7)[:2] = 5

for name in ("whole", "unsigned", "signed", "absent"):
    with h5py.File("a.h5") as file:
        by_h5py = file[name][...].tolist()
    try:
        found = pyfive.File("a.h5")[name][...].tolist()
    except Exception as error:
        found = type(error).__name__
    print(f"{name} h5py {by_h5py} pyfive {found}")
PROGRAM
cat >read.mjs <<'PROGRAM'
import { readFileSync } from "node:fs";
import { File } from "jsfive";

const held = readFileSync("a.h5");
const file = new File(held.buffer.slice(held.byteOffset, held.byteOffset + held.length), "a.h5");
for (const name of ["whole", "unsigned", "signed", "absent"]) {
  console.log("jsfive", `[${Array.from(file.get(name).value, String).join(", ")}]`);
}
PROGRAM
venv/bin/python -W ignore read.py >by-python
node read.mjs >by-jsfive
seen=$(paste -d ' ' by-python by-jsfive)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: pyfive and jsfive read integers of fewer bits as other numbers. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
