"""N5 arrays of libraries that are not ours: tensorstore, or zarr-python 2 and z5py, whichever this environment has.

    python n5.py make DIRECTORY     writes arrays; stdout: JSON list of {"path", "sha256"}
    python n5.py read               stdin: JSON list of paths; stdout: JSON list, in the same order, of
                                    {reader: sha256 or {"error"}}

`sha256` is over the elements with N5's axes reversed, in C order, little-endian.
"""

import itertools
import json
import pathlib
import sys

import numpy as np
from read import digest

try:
    import tensorstore
except ImportError:
    import z5py
    import zarr

IS_TENSORSTORE = "tensorstore" in sys.modules
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
SHAPES = [((11,), (4,)), ((9, 10), (5, 5)), ((5, 7, 6), (2, 3, 6)), ((3, 2, 4, 5), (2, 2, 3, 2))]
RANDOM = np.random.default_rng(20261121)

TENSORSTORE = [
    {"type": "raw"},
    {"type": "gzip", "level": 5},
    {"type": "gzip", "useZlib": True},
    {"type": "bzip2", "blockSize": 1},
    {"type": "xz", "preset": 1},
    {"type": "zstd", "level": 3},
    {"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1},
    {"type": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2},
]
Z5 = ["raw", "gzip", "bzip2", "xz", "lz4", "blosc"]
ZARR = [
    None,
    {"id": "gzip", "level": 1},
    {"id": "zlib", "level": 1},
    {"id": "bz2", "level": 1},
    {"id": "lzma", "preset": 1},
    {"id": "zstd", "level": 1},
    {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1},
]


def values(shape, dtype):
    """Half smooth, half noise, and a region of zeros."""
    numbers = RANDOM.integers(0, 100, int(np.prod(shape))).astype(dtype)
    numbers[: numbers.size // 2] = np.arange(numbers.size // 2) // 3 % 100
    numbers[-1] = 77
    return numbers.reshape(shape)


def with_tensorstore(path, numbers, chunks, compression):
    metadata = {
        "dimensions": numbers.shape[::-1], "blockSize": chunks[::-1], "dataType": numbers.dtype.name, "compression": compression,
    }
    spec = {"driver": "n5", "kvstore": {"driver": "file", "path": path}, "metadata": metadata, "create": True}
    tensorstore.open(spec).result().write(numbers.T).result()


def with_z5py(path, numbers, chunks, compression):
    path = pathlib.Path(path)
    file = z5py.File(str(path.parent), mode="a", use_zarr_format=False)
    file.create_dataset(path.name, data=numbers, chunks=chunks, compression=compression)


def with_zarr(path, numbers, chunks, compressor):
    path = pathlib.Path(path)
    store = zarr.N5Store(str(path.parent))
    array = zarr.create(
        numbers.shape, chunks=chunks, dtype=numbers.dtype, compressor=compressor and zarr.codecs.get_codec(compressor), store=store,
        path=path.name,
    )
    array[...] = numbers


def make(directory):
    writers = [(with_tensorstore, TENSORSTORE)] if IS_TENSORSTORE else [(with_z5py, Z5), (with_zarr, ZARR)]
    made = []
    for writer, compressions in writers:
        container = pathlib.Path(directory) / f"{writer.__name__}.n5"
        container.parent.mkdir(parents=True, exist_ok=True)
        if IS_TENSORSTORE:  # it says no version, which z5py wants
            container.mkdir()
            (container / "attributes.json").write_text('{"n5": "2.0.0"}')
        for (number, dtype), compression in itertools.product(enumerate(DTYPES), compressions):
            shape, chunks = SHAPES[(number + len(made)) % len(SHAPES)]
            numbers = values(shape, dtype)
            path = str(container / f"a{len(made)}")
            writer(path, numbers, chunks, compression)
            made.append({"path": path, "sha256": digest(numbers)})
    return made


def reading(path):
    path = pathlib.Path(path)
    if IS_TENSORSTORE:
        spec = {"driver": "n5", "kvstore": {"driver": "file", "path": str(path)}}
        return {"tensorstore": lambda: tensorstore.open(spec).result().read().result().T}
    return {
        "z5py": lambda: z5py.File(str(path.parent), mode="r", use_zarr_format=False)[path.name][:],
        "zarr": lambda: zarr.open_array(zarr.N5Store(str(path.parent)), path=path.name, mode="r")[...],
    }


def answer(read):
    try:
        return digest(np.asarray(read()))
    except Exception as error:  # what a reader does not take is an answer too
        return {"error": f"{type(error).__name__}: {error}"}


if sys.argv[1] == "make":
    answers = make(sys.argv[2])
else:
    answers = [{name: answer(read) for name, read in reading(path).items()} for path in json.load(sys.stdin)]
json.dump(answers, sys.stdout)
