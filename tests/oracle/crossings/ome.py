"""Images of OME-Zarr, written by ome-zarr-py (0.4 and 0.5) and ngff-zarr (0.5, as `.ozx` too)."""

import dask.array
import ngff_zarr
import ome_zarr
import zarr
from common import digest, main, numbers
from importlib.metadata import version
from ome_zarr.format import FormatV04, FormatV05
from ome_zarr.io import parse_url
from ome_zarr.reader import Reader
from ome_zarr.writer import write_image

# Name, who writes, version of OME-Zarr, ending, type, what is told to the copy.
IMAGES = [
    ("four", "ome-zarr", FormatV04(), ".zarr", "u2", ["--chunks", "20,30"]),
    ("five", "ome-zarr", FormatV05(), ".zarr", "u1", ["--chunks", "20,30"]),
    ("five-floats", "ome-zarr", FormatV05(), ".zarr", "f4", ["--chunks", "7,64"]),
    ("ngff", "ngff-zarr", "0.5", ".zarr", "u2", ["--chunks", "20,30"]),
    ("one-file", "ngff-zarr", "0.5", ".ozx", "u2", ["--chunks", "20,30"]),
    ("one-file-bytes", "ngff-zarr", "0.5", ".ozx", "u1", ["--chunks", "64,8"]),
]


def write(directory):
    """Writes every image with a smaller level."""
    cases = []
    for name, library, form, ending, dtype, options in IMAGES:
        elements, place = numbers((64, 80), dtype), f"{directory}/{name}{ending}"
        if library == "ome-zarr":
            group = zarr.open_group(place, mode="w", zarr_format=form.zarr_format)
            write_image(elements, group, axes="yx", fmt=form, scale_factors=[2])
            smaller = zarr.open_group(place, mode="r")["s1"][...]
        else:
            image = ngff_zarr.to_ngff_image(elements, dims=("y", "x"), scale={"y": 0.5, "x": 0.5})
            levels = ngff_zarr.to_multiscales(image, scale_factors=[2], chunks=32)
            ngff_zarr.to_ngff_zarr(place, levels, version=form)
            smaller = ngff_zarr.from_ngff_zarr(place).images[1].data.compute()
        cases.append(
            {"name": name, "source": name + ending, "options": options,
             "digest": digest(elements, smaller)}
        )
    return cases


def read(name, path):
    """Reads the levels of an image with who has written it."""
    library = next(row[1] for row in IMAGES if row[0] == name)
    if library == "ngff-zarr":
        return digest(*(level.data.compute() for level in ngff_zarr.from_ngff_zarr(path).images))
    node = next(iter(Reader(parse_url(path))()))
    return digest(*(dask.array.asarray(level).compute() for level in node.data))


main(f"ome-zarr {version('ome-zarr')}, ngff-zarr {version('ngff-zarr')}", write, read)
