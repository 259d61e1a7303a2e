"""SpatialData: images, labels, points and tables in one store."""

from importlib.metadata import version

import anndata
import dask.dataframe
import numpy as np
import pandas
import spatialdata
from common import digest, main, numbers
from spatialdata.models import Image2DModel, Labels2DModel, PointsModel, TableModel

# Name, what is in it, what is told to the copy.
STORES = [
    ("image", ("image",), ["--chunks", "keep"]),
    ("labels", ("labels",), ["--chunks", "keep"]),
    ("image-and-labels", ("image", "labels"), ["--chunks", "keep"]),
    ("table", ("table",), ["--chunks", "keep"]),
    ("points", ("image", "points"), ["--chunks", "keep"]),
    ("all", ("image", "labels", "points", "table"), ["--chunks", "keep"]),
]


def element(kind):
    """One element."""
    if kind == "image":
        return Image2DModel.parse(numbers((3, 40, 50), "u2"), dims=("c", "y", "x"))
    if kind == "labels":
        return Labels2DModel.parse(numbers((40, 50), "u4"), dims=("y", "x"))
    if kind == "points":
        frame = pandas.DataFrame({"x": np.arange(30.0), "y": np.arange(30.0) % 7})
        return PointsModel.parse(dask.dataframe.from_pandas(frame, npartitions=1))
    return TableModel.parse(anndata.AnnData(numbers((10, 4), "f4")))


def digest_of(found):
    """What a store holds."""
    parts = []
    for kind in sorted(["image", "labels", "points", "table"]):
        if kind in found:
            part = found[kind]
            if kind in ("image", "labels"):
                parts.append(np.asarray(part.data))
            elif kind == "points":
                parts.append(part.compute()[["x", "y"]].to_numpy())
            else:
                parts.append(np.asarray(part.X))
    return digest(*parts)


def write(directory):
    """Writes every store."""
    cases = []
    for name, kinds, options in STORES:
        found = spatialdata.SpatialData.init_from_elements({kind: element(kind) for kind in kinds})
        found.write(f"{directory}/{name}.zarr")
        cases.append(
            {"name": name, "source": f"{name}.zarr", "options": options, "digest": digest_of(found)}
        )
    return cases


def read(_, path):
    """Reads a store."""
    return digest_of(spatialdata.read_zarr(path))


main(f"spatialdata {version('spatialdata')}", write, read)
