#!/usr/bin/env bash
# Cubed stores an array into a Zarr array of other chunks with wrong or missing elements.
#
# `cubed.store` takes Zarr arrays that exist, and so does `cubed.to_zarr`. Nothing asks their chunks
# to be those of the source. Where they differ, elements are wrong or lost, mostly without an error
# (none here) and without a warning:
# - With a region that is aligned to the target's chunks, which is checked, one chunk of the source
#   is taken for each chunk of the target, as if both had the same size. 0 to 7 in one chunk becomes
#   0 1 0 1 0 1 0 1; in chunks of one element it becomes 0 0 1 1 2 2 3 3. This is so in every run.
# - Without a region, several tasks read, change and write the same chunk at the same time, and
#   one undoes what another wrote. Which elements are lost differs from run to run.
# Shards of the target are looked at: Cubed says that it rechunks "to prevent data corruption", does
# so, and all is right. dask stores the same source into the same target as it is: it rechunks to
# the target's chunks, too.
#
# What should be: storing copies elements, so that element i of the region is element i of the
# source; the docstrings of `store` and `to_zarr` say nothing of chunks. Writes in parallel are safe
# only where no two of them share a chunk, whatever library makes them.
#
# Versions: cubed 0.28.0, zarr 3.4.2, numpy 2.5.5, dask 2026.8.0
# Source:   `_store_array` in cubed/core/ops.py of https://github.com/cubed-dev/cubed; for shards
#           it was reported and mended (issue 896, pull request 897); no thread known for chunks
# Expected output:
#
#   region, source chunks 2, target chunks 2: 0 1 2 3 4 5 6 7
#   region, source chunks 8, target chunks 2: 0 1 0 1 0 1 0 1
#   region, source chunks 1, target chunks 2: 0 0 1 1 2 2 3 3
#   region, source chunks 8, target chunks 2, by dask: 0 1 2 3 4 5 6 7
#   no region, source chunks 100, target chunks 100: none of 1000 elements lost
#   no region, source chunks 60, target chunks 100: some of 1000 elements lost
#   no region, source chunks 10, target chunks 100: some of 1000 elements lost
#   no region, source chunks 60, target shards 100: none of 1000 elements lost
#   no region, source chunks 60, target chunks 100, by dask: none of 1000 elements lost
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
    cubed==0.28.0 zarr==3.4.2 numpy==2.5.5 dask==2026.8.0
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import itertools

import cubed
import dask.array
import numpy
import zarr

names = map("{}.zarr".format, itertools.count())


def target(length, chunks, shards=None):
    return zarr.create_array(
        next(names), shape=(length,), chunks=(chunks,), shards=shards, dtype="int64", fill_value=-1
    )


def source(elements, chunks):
    return cubed.from_array(elements, chunks=chunks)


few = numpy.arange(8)
region = (slice(0, 8),)
for chunks in (2, 8, 1):
    into = target(12, 2)
    cubed.store([source(few, chunks)], [into], regions=region)
    print(f"region, source chunks {chunks}, target chunks 2: {' '.join(map(str, into[:8]))}")
into = target(12, 2)
dask.array.from_array(few, chunks=8).to_zarr(into, region=region)
print(f"region, source chunks 8, target chunks 2, by dask: {' '.join(map(str, into[:8]))}")

many = numpy.arange(1000)
runs = 10
for chunks, shards, by_dask in (
    (100, None, False), (60, None, False), (10, None, False), (60, (100,), False), (60, None, True)
):
    lost = 0
    for _ in range(runs):
        into = target(1000, 10 if shards else 100, shards)
        if by_dask:
            dask.array.from_array(many, chunks=chunks).to_zarr(into)
        else:
            cubed.store([source(many, chunks)], [into])
        lost += int((into[:] != many).sum())
    print(
        f"no region, source chunks {chunks}, target {'shards' if shards else 'chunks'} 100"
        f"{', by dask' * by_dask}: {'some' if lost else 'none'} of 1000 elements lost"
    )
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: what Cubed stores into other chunks. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
