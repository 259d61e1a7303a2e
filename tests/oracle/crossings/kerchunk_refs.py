"""Kerchunk: references to HDF5 that it writes and rechunk reads; references to what rechunk has written, read again."""

import json
from importlib.metadata import version

import h5py
import kerchunk.hdf
import kerchunk.zarr
import zarr
from common import digest, main, numbers

# Name, shape, type, what h5py is told, what is told to the copy.
FILES = [
    ("plain", (30, 40), "f4", {"chunks": (7, 10)}, ["--chunks", "10,40"]),
    ("gzip", (30, 40), "i2", {"chunks": (7, 10), "compression": "gzip"}, ["--chunks", "30,5"]),
    (
        "shuffled",
        (30, 40),
        "f8",
        {"chunks": (10, 10), "compression": "gzip", "shuffle": True},
        ["--chunks", "6,6"],
    ),
    ("contiguous", (30, 40), "u1", {}, ["--chunks", "6,6"]),
    ("whole", (30, 40), "u2", {"chunks": (30, 40), "compression": "gzip"}, ["--chunks", "15,20"]),
    ("big-endian", (30, 40), ">i4", {"chunks": (7, 10)}, ["--chunks", "15,20"]),
]


def write(directory):
    """Writes every file, and references to it."""
    cases = []
    for name, shape, dtype, told, options in FILES:
        elements = numbers(shape, dtype)
        file = f"{directory}/{name}.h5"
        with h5py.File(file, "w") as opened:
            opened.create_dataset("t", data=elements, **told)
        with open(file, "rb") as opened:
            references = kerchunk.hdf.SingleHdf5ToZarr(opened, file).translate()
        with open(f"{directory}/{name}.json", "w") as opened:
            json.dump(references, opened)
        options = [*options, "--format", "zarr2"]
        cases.append(
            {"name": name, "source": f"{name}.json", "options": options, "digest": digest(elements)}
        )
    return cases


def read(_, path):
    """Reads an array through references to the group it is in."""
    told = {"fo": kerchunk.zarr.single_zarr(path), "remote_protocol": "file", "asynchronous": True,
            "remote_options": {"asynchronous": True}}
    store = zarr.storage.FsspecStore.from_url("reference://", storage_options=told, read_only=True)
    return digest(zarr.open_array(store, path="t", mode="r", zarr_format=2)[...])


main(f"kerchunk {version('kerchunk')}", write, read)
