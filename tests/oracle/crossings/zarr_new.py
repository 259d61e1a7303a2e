"""The newest zarr-python: grids, shards and types that the oldest do not have."""

import numpy as np
import zarr
from common import digest, main, numbers

zarr.config.set({"array.rectilinear_chunks": True})

# Name, shape, type, what is told to zarr, what is told to the copy.
ARRAYS = [
    ("regular", (30, 40), "f4", {"chunks": (7, 11)}, ["--chunks", "10,10"]),
    ("shards", (48, 40), "i2", {"chunks": (4, 5), "shards": (16, 20)}, ["--chunks", "6,40"]),
    ("to-shards", (30, 40), "u8", {"chunks": (7, 11)}, ["--chunks", "5,8", "--shards", "30,16"]),
    ("rectilinear", (30, 40), "f8", {"chunks": [[3, 7, 20], [20, 20]]}, ["--chunks", "10,10"]),
    (
        "rectilinear-shards",  # one axis as a list of lengths, one as runs of equal ones
        (12, 20),
        "i4",
        {"shards": [[4, 2, 6], [5, 5, 10]], "chunks": (2, 5)},
        ["--chunks", "5,7"],
    ),
    (
        "rectilinear-shards-of-runs",
        (28, 12),
        "u2",
        {"shards": [[4, 4, 4, 8, 8], [6, 6]], "chunks": (4, 3)},
        ["--chunks", "28,4"],
    ),
    (
        "rectilinear-shards-time",
        (59, 6),
        "f4",
        {"shards": [[31, 28], [6]], "chunks": (1, 3), "compressors": None},
        ["--chunks", "10,6", "--shards", "60,6"],
    ),
    (
        "rectilinear-shards-to-v2",
        (20, 9, 4),
        "i8",
        {"shards": [[10, 2, 8], [3, 6], 4], "chunks": (2, 3, 4)},
        ["--chunks", "20,3,2", "--format", "zarr2"],
    ),
    ("lengths-kept", (30, 40), "f8", {"chunks": [[3, 7, 20], [20, 20]]}, ["--chunks", "keep"]),
    ("to-lengths", (30, 40), "f4", {"chunks": (7, 11)}, ["--chunks", "3+7x2+13,9x4+4"]),
    (
        "lengths-kept-in-shards",
        (12, 20),
        "i4",
        {"shards": [[4, 2, 6], [5, 5, 10]], "chunks": (2, 5)},
        ["--chunks", "keep"],
    ),
    (
        "to-lengths-of-shards",
        (59, 6),
        "i2",
        {"chunks": (10, 6)},
        ["--shards", "31+28,6", "--chunks", "1,3"],
    ),
    ("version-2", (30, 40), "f4", {"chunks": (7, 11), "zarr_format": 2}, ["--chunks", "10,40"]),
    (
        "from-2-to-3",
        (30, 40),
        "u1",
        {"chunks": (7, 11), "zarr_format": 2},
        ["--chunks", "10,40", "--format", "zarr3"],
    ),
    ("dates", (20, 3), "M8[s]", {"chunks": (7, 3)}, ["--chunks", "20,1"]),
    ("records", (50,), [("a", "<i4"), ("b", "<f8")], {"chunks": (7,)}, ["--chunks", "20"]),
]


def write(directory):
    """Writes every array."""
    cases = []
    for name, shape, dtype, told, options in ARRAYS:
        array = zarr.create_array(f"{directory}/{name}", shape=shape, dtype=np.dtype(dtype), **told)
        if isinstance(dtype, list):
            elements = np.zeros(shape, dtype)
            for number, field in enumerate(elements.dtype.names):
                elements[field] = numbers(shape, elements.dtype[field], number)
        else:
            elements = numbers(shape, dtype)
        # The corner stays empty: some chunks are missing.
        elements[tuple(slice(0, n // 2) for n in shape)] = array.fill_value
        array[...] = elements
        cases.append({"name": name, "source": name, "options": options, "digest": digest(elements)})
    return cases


def read(_, path):
    """Reads an array."""
    return digest(zarr.open_array(path, mode="r")[...])


main(f"zarr {zarr.__version__}", write, read)
