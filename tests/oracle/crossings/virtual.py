"""VirtualiZarr: references to HDF5 that it writes and rechunk reads; what rechunk has written, opened by its parser."""

import warnings
from importlib.metadata import version

import numpy as np
import xarray
from common import digest, main, numbers
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr import open_virtual_dataset
from virtualizarr.parsers import HDFParser, ZarrParser

warnings.simplefilter("ignore")

# Name, shape, type, encoding of the NetCDF-4 file, form of the references, what is told to the copy.
FILES = [
    ("plain", (30, 40), "f4", {"chunksizes": (7, 10)}, "json", ["--chunks", "y=10,x=40"]),
    ("zlib", (30, 40), "i2", {"chunksizes": (7, 10), "zlib": True}, "json", ["--chunks", "y=30,x=5"]),
    (
        "shuffled",
        (30, 40),
        "f8",
        {"chunksizes": (10, 10), "zlib": True, "shuffle": True},
        "parquet",
        ["--chunks", "y=6,x=6"],
    ),
    ("contiguous", (30, 40), "u1", {"contiguous": True}, "json", ["--chunks", "y=6,x=6"]),
    ("tables", (30, 40), "i4", {"chunksizes": (7, 10)}, "parquet", ["--chunks", "y=15,x=20"]),
]


def registry():
    """The files of this machine."""
    return ObjectStoreRegistry({"file://": LocalStore()})


def write(directory):
    """Writes every file, and references to it."""
    cases = []
    for name, shape, dtype, encoding, form, options in FILES:
        elements = numbers(shape, dtype)
        file = f"{directory}/{name}.nc"
        dataset = xarray.Dataset({"t": (("y", "x"), elements)})
        dataset.to_netcdf(file, engine="netcdf4", encoding={"t": encoding | {"_FillValue": None}})
        virtual = open_virtual_dataset(f"file://{file}", parser=HDFParser(), registry=registry())
        source = f"{name}.{'json' if form == 'json' else 'parq'}"
        virtual.vz.to_kerchunk(f"{directory}/{source}", format=form)
        options = [*options, "--format", "zarr3"]
        cases.append(
            {"name": name, "source": source, "options": options, "digest": digest(elements)}
        )
    return cases


def read(_, path):
    """Reads an array of a group."""
    parsed = ZarrParser()(f"file://{path}", registry())
    # Elements that are the fill value stay elements.
    opened = xarray.open_zarr(parsed, consolidated=False, zarr_format=3, mask_and_scale=False)
    return digest(np.asarray(opened["t"].values))


main(f"VirtualiZarr {version('virtualizarr')}", write, read)
