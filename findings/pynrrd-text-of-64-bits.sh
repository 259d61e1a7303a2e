#!/usr/bin/env bash
# pynrrd writes integers of 64 bits as text of floating-point numbers, which is read as other integers.
#
# With `encoding: ascii` every element is written in the format "%.17g", whatever the type. Integers above
# 2 to the power of 53 become the nearest double; from 10 to the power of 17 on they are in the notation
# with an exponent, also where the header says `type: uint64`. Writing gives no error and no warning.
# ITK then reads what is before the point or the "e": 9.2233720368547758e+18 is 9, and 1e+17 is 1, without
# an error. pynrrd itself does not read such a file. Labels of segmentations are numbers of this size.
#
# What should be: NRRD's definition has the types int64 and uint64, says of `ascii` that values are
# written as text, and leaves out no type. ITK reads integers in decimal digits up to the largest, and so
# does pynrrd ("digits" below is the same file with the digits in it). `raw` and `gzip` are right.
#
# Versions: pynrrd 1.1.3, SimpleITK 2.5.7, numpy 2.5.5; seen on 2026-12-01
# Source:   `_write_data` in nrrd/writer.py of https://github.com/mhe/pynrrd; the definition:
#           https://teem.sourceforge.net/nrrd/format.html (encoding, type); no thread known
# Expected output:
#
#   elements: 9007199254740993 100000000000000001 9223372036854775809
#   in the file: 9007199254740992 1e+17 9.2233720368547758e+18
#   ascii by ITK: 9007199254740992 1 9
#   ascii by pynrrd: ValueError
#   digits by ITK: 9007199254740993 100000000000000001 9223372036854775809
#   digits by pynrrd: 9007199254740993 100000000000000001 9223372036854775809
#   gzip by ITK: 9007199254740993 100000000000000001 9223372036854775809
#   gzip by pynrrd: 9007199254740993 100000000000000001 9223372036854775809
#   the first alone, ascii by ITK: 9007199254740992
#   the first alone, ascii by pynrrd: 9007199254740992
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
    pynrrd==1.1.3 SimpleITK==2.5.7 numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import nrrd
import numpy
import SimpleITK

elements = numpy.array([[2**53 + 1, 10**17 + 1, 2**63 + 1]], "uint64").T


def show(name, path):
    by_itk = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path)).ravel()
    print(f"{name} by ITK:", *by_itk)
    try:
        by_pynrrd = nrrd.read(path)[0].ravel()
    except ValueError:
        by_pynrrd = ["ValueError"]
    print(f"{name} by pynrrd:", *by_pynrrd)


print("elements:", *elements.ravel())
nrrd.write("ascii.nrrd", elements, {"encoding": "ascii"})
with open("ascii.nrrd") as opened:
    header, text = opened.read().split("\n\n")
assert "type: uint64" in header
print("in the file:", text.strip())
show("ascii", "ascii.nrrd")
with open("digits.nrrd", "w") as opened:
    opened.write(f"{header}\n\n{' '.join(map(str, elements.ravel()))}\n")
show("digits", "digits.nrrd")
nrrd.write("gzip.nrrd", elements, {"encoding": "gzip"})
show("gzip", "gzip.nrrd")
nrrd.write("first.nrrd", elements[:1], {"encoding": "ascii"})
show("the first alone, ascii", "first.nrrd")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: what pynrrd writes of integers of 64 bits. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
