"""Data sets of webknossos: Zarr v3 in shards, N5 and Zarr v2, each with its own document beside the arrays."""

import shutil
from importlib.metadata import version
from pathlib import Path

from common import digest, main, numbers
from webknossos import COLOR_CATEGORY, SEGMENTATION_CATEGORY, DataFormat, Dataset

# Name, format, category, type, what is told to the copy.
DATASETS = [
    ("color", DataFormat.Zarr3, COLOR_CATEGORY, "uint8", ["--chunks", "keep"]),
    ("segmentation", DataFormat.Zarr3, SEGMENTATION_CATEGORY, "uint32", ["--chunks", "keep"]),
    ("words", DataFormat.Zarr3, COLOR_CATEGORY, "uint16", ["--chunks", "keep"]),
    ("floats", DataFormat.Zarr3, COLOR_CATEGORY, "float32", ["--chunks", "keep"]),
    ("version-2", DataFormat.Zarr, COLOR_CATEGORY, "uint8", ["--chunks", "keep", "--format", "zarr2"]),
]
SHAPE = (128, 96, 64)


def write(directory):
    """Writes every data set."""
    cases = []
    for name, form, category, dtype, options in DATASETS:
        elements = numbers(SHAPE, dtype)
        dataset = Dataset(f"{directory}/{name}", voxel_size=(1, 1, 1))
        told = {"largest_segment_id": 250} if category == SEGMENTATION_CATEGORY else {}
        layer = dataset.add_layer("layer", category, dtype_per_channel=dtype, data_format=form, **told)
        level = layer.add_mag(1, chunk_shape=32, shard_shape=64 if form == DataFormat.Zarr3 else 32)
        level.write(elements, absolute_offset=(0, 0, 0), allow_resize=True)
        cases.append(
            {"name": name, "source": f"{name}/layer/1", "options": options,
             "below": "/layer/1", "digest": digest(elements)}
        )
    return cases


def read(name, path):
    """Reads a level, with the document of the data set, which is not in the array's directory."""
    source = Path(path).parents[1] / name
    shutil.copy(source / "datasource-properties.json", path)
    level = Dataset.open(path).get_layer("layer").get_mag(1)
    return digest(level.read()[0])


main(f"webknossos {version('webknossos')}", write, read)
