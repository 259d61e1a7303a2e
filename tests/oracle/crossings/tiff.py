"""Tifffile: TIFF files and references to their tiles and strips, which it writes and rechunk reads.

It writes no Zarr; what rechunk has written is read by zarr-python.
"""

import os

import tifffile
import zarr
from common import digest, main, numbers

# Name, shape, type, what tifffile is told, what is told to the copy.
FILES = [
    ("tiles", (96, 80), "u2", {"tile": (32, 16)}, ["--chunks", "40,80"]),
    ("strips", (96, 80), "f4", {"rowsperstrip": 32}, ["--chunks", "10,10"]),
    ("deflate", (96, 80), "u1", {"tile": (32, 32), "compression": "zlib"}, ["--chunks", "96,8"]),
    ("big-endian", (96, 80), "i4", {"tile": (32, 16), "byteorder": ">"}, ["--chunks", "40,80"]),
    ("pages", (5, 96, 80), "u2", {"tile": (32, 16)}, ["--chunks", "5,20,20"]),
    ("bigtiff", (96, 80), "f8", {"tile": (16, 16), "bigtiff": True}, ["--chunks", "50,50"]),
    ("rgb", (64, 48, 3), "u1", {"tile": (16, 16), "photometric": "rgb"}, ["--chunks", "64,48,1"]),
]


def write(directory):
    """Writes every file, and its references."""
    cases = []
    for name, shape, dtype, told, options in FILES:
        elements = numbers(shape, dtype)
        file = f"{directory}/{name}.tif"
        told = {"photometric": "minisblack"} | told
        tifffile.imwrite(file, elements, **told)
        with tifffile.imread(file, aszarr=True) as store:
            store.write_fsspec(f"{directory}/{name}.json", url=f"file://{directory}", version=1)
        # References to a file of one array name it by nothing.
        cases.append(
            {"name": name, "source": f"{name}.json", "options": options, "digest": digest(elements)}
        )
        assert os.path.getsize(file) > 0
    return cases


def read(_, path):
    """Reads an array."""
    return digest(zarr.open_array(path, mode="r")[...])


main(f"tifffile {tifffile.__version__}", write, read)
