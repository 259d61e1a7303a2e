#!/usr/bin/env bash
# kerchunk's references of a scaled FITS image divide by BSCALE, where FITS multiplies.
#
# The references tell scale and offset as numcodecs' `fixedscaleoffset`, whose decoding is encoded
# / scale + offset; its scale is therefore 1 / BSCALE, and kerchunk puts BSCALE there. Besides, the
# array's type is that of the stored elements, not of what the filter returns, which are always
# floats of 64 bits. So zarr-python refuses scaled images of less than 64 bits, also those with
# BSCALE 1, as unsigned integers of 16 bits are stored (BZERO 32768). Elements of 64 bits are read
# without an error, as the bytes of the filter's floats, which are in the other order: as other
# numbers.
#
# What was run: four images written and read by astropy, then made references of by `process_file`
# and read by zarr-python; and the filter of the references, applied to the stored elements by
# itself. FITS says: physical value = BZERO + BSCALE x stored value. astropy's values are those.
#
# Versions: kerchunk 0.2.10, zarr 3.4.2, numcodecs 0.17.1, astropy 8.0.2, fsspec 2026.9.0, numpy
#           2.5.5
# Source:   kerchunk/fits.py, `process_file`, in fsspec/kerchunk; numcodecs/fixedscaleoffset.py,
#           `FixedScaleOffset.decode`, in zarr-developers/numcodecs; FITS Standard 4.0, section
#           4.4.2.5, https://fits.gsfc.nasa.gov/fits_standard.html; no thread known
# Expected output:
#
#   stored >i2 1 2 3 4, BSCALE 0.5, BZERO 10
#       by FITS         [10.5, 11.0, 11.5, 12.0]
#       by astropy      [10.5, 11.0, 11.5, 12.0]
#       by the filter   [12.0, 14.0, 16.0, 18.0]
#       by zarr-python  cannot reshape array of size 16 into shape (4,)
#   stored >i2 1 2 3 4, BSCALE 1, BZERO 32768
#       by FITS         [32769, 32770, 32771, 32772]
#       by astropy      [32769, 32770, 32771, 32772]
#       by the filter   [32769.0, 32770.0, 32771.0, 32772.0]
#       by zarr-python  cannot reshape array of size 16 into shape (4,)
#   stored >f8 1 2 3 4, BSCALE 0.5, BZERO 10
#       by FITS         [10.5, 11.0, 11.5, 12.0]
#       by astropy      [10.5, 11.0, 11.5, 12.0]
#       by the filter   [12.0, 14.0, 16.0, 18.0]
#       by zarr-python  [5.091e-320, 5.597e-320, 6.1027e-320, 6.3557e-320]
#   stored >i8 1 2 3 4, BSCALE 0.5, BZERO 10
#       by FITS         [10.5, 11.0, 11.5, 12.0]
#       by astropy      [10.5, 11.0, 11.5, 12.0]
#       by the filter   [12.0, 14.0, 16.0, 18.0]
#       by zarr-python  [10304, 11328, 12352, 12864]
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
    kerchunk==0.2.10 zarr==3.4.2 numcodecs==0.17.1 astropy==8.0.2 fsspec==2026.9.0 \
    numpy==2.5.5
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import json

import fsspec
import numcodecs
import numpy as np
import zarr
from astropy.io import fits
from kerchunk.fits import process_file
from zarr.storage import FsspecStore

for kind, scale, zero in ((">i2", 0.5, 10), (">i2", 1, 32768), (">f8", 0.5, 10), (">i8", 0.5, 10)):
    image = fits.PrimaryHDU(np.array([1, 2, 3, 4], kind))
    image.header["BSCALE"], image.header["BZERO"] = scale, zero
    image.writeto("image.fits", overwrite=True)
    print(f"stored {kind} 1 2 3 4, BSCALE {scale}, BZERO {zero}")
    print(f"    by FITS         {[zero + scale * stored for stored in (1, 2, 3, 4)]}")
    print(f"    by astropy      {fits.getdata('image.fits').tolist()}")
    references = dict(process_file("image.fits"))
    document = json.loads(references["PRIMARY/.zarray"])
    codec = numcodecs.get_codec(document["filters"][0])
    print(f"    by the filter   {codec.decode(np.array([1, 2, 3, 4], kind)).tolist()}")
    remote = {"remote_protocol": "file", "remote_options": {"asynchronous": True}}
    files = fsspec.filesystem("reference", fo=references, asynchronous=True, **remote)
    group = zarr.open_group(FsspecStore(files, read_only=True), mode="r", zarr_format=2)
    try:
        print(f"    by zarr-python  {group['PRIMARY'][...].tolist()}")
    except ValueError as error:
        print(f"    by zarr-python  {error}")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: references of scaled FITS images divide. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
