#!/usr/bin/env bash
# References of VirtualiZarr and kerchunk name filters that a chunk of HDF5 does not have.
#
# HDF5 lets single chunks go without filters, in two ways. A mask at each chunk tells which it was written without:
# VirtualiZarr does not look at it (kerchunk does). A property of the dataset leaves the chunks at its ends, where they reach
# over the shape, without any: then neither looks. Where a filter compresses, reading mostly ends in an error. Where the
# filter left out is the byte shuffle, the bytes are unshuffled all the same, and other numbers come out.
#
# Versions: kerchunk 0.2.10, virtualizarr 2.8.0, h5py 3.16.0, zarr 3.4.2
# Source:   met when kinds of HDF5 chunks were crossed with makers of references; no thread known
# Expected output:
#
#   plain h5py equal
#   plain kerchunk equal
#   plain VirtualiZarr equal
#   mask h5py equal
#   mask kerchunk equal
#   mask VirtualiZarr wrote [30 31 32] reads [  1966101         0 587209216]
#   ends h5py equal
#   ends kerchunk wrote [30 31 32] reads [   0    0 8218]
#   ends VirtualiZarr wrote [30 31 32] reads [   0    0 8218]
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check kerchunk==0.2.10 virtualizarr==2.8.0 h5py==3.16.0 zarr==3.4.2
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import ctypes
import json
import os

import h5py
import numcodecs
import numpy as np
import zarr
from h5py import h5d, h5p, h5s, h5t
from kerchunk.hdf import SingleHdf5ToZarr
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr.parsers import HDFParser

path = os.path.abspath("a.h5")
elements = np.arange(36, dtype="<i4").reshape(6, 6)


def at_the_ends(file, name, opted):
    chosen = h5p.create(h5p.DATASET_CREATE)
    chosen.set_chunk((4, 6))
    chosen.set_shuffle()
    if opted:  # h5py does not have this call: H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS
        with open("/proc/self/maps") as maps:
            library = next(line.split()[-1] for line in maps if "/libhdf5-" in line or "/libhdf5.so" in line)
        assert ctypes.CDLL(library).H5Pset_chunk_opts(ctypes.c_int64(chosen.id), ctypes.c_uint(2)) >= 0
    made = h5d.create(file.id, name, h5t.STD_I32LE, h5s.create_simple((6, 6)), chosen)
    made.write(h5s.ALL, h5s.ALL, elements)


with h5py.File(path, "w", libver="latest") as file:
    dataset = file.create_dataset("mask", data=elements, chunks=(3, 6), shuffle=True)
    dataset.id.write_direct_chunk((3, 0), elements[3:].tobytes(), filter_mask=1)
    at_the_ends(file, b"ends", True)
    at_the_ends(file, b"plain", False)

references = SingleHdf5ToZarr(path, inline_threshold=0).translate()["refs"]
with open(path, "rb") as opened:
    content = opened.read()


def by_kerchunk(name):
    document = json.loads(references[f"{name}/.zarray"])
    chunks = []
    for number in range(2):
        told = references[f"{name}/{number}.0"]
        # A text is the chunk itself, already without what its mask says.
        held = content[told[1] : told[1] + told[2]] if isinstance(told, list) else told.encode("latin-1")
        for codec in [document["compressor"], *reversed(document["filters"] or [])]:
            held = numcodecs.get_codec(codec).decode(held) if codec else held
        chunks.append(np.frombuffer(held, document["dtype"]).reshape(document["chunks"]))
    return np.concatenate(chunks)[:6]


def by_virtualizarr(name):
    store = HDFParser()(url=f"file://{path}", registry=ObjectStoreRegistry({"file://": LocalStore()}))
    return zarr.open_group(store, mode="r")[name][...]


for name in ("plain", "mask", "ends"):
    with h5py.File(path) as file:
        by_h5py = file[name][...]
    for library, found in (("h5py", by_h5py), ("kerchunk", by_kerchunk(name)), ("VirtualiZarr", by_virtualizarr(name))):
        print(name, library, "equal" if np.array_equal(found, elements) else f"wrote {elements[5, :3]} reads {found[5, :3]}")
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: References name filters that a chunk of HDF5 does not have. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
