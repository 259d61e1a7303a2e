"""N5 arrays of libraries that are not ours: tensorstore, or zarr-python 2 and z5py, whichever this environment has.

    python n5.py make DIRECTORY     writes arrays; stdout: JSON list of {"path", "sha256", "shape", "dtype", "attributes"}
    python n5.py sources DIRECTORY  writes Zarr arrays that N5 can hold (zarr-python 3 only); the same, with "format"
    python n5.py read               stdin: JSON list of paths; stdout: JSON list, in the same order, of
                                    {reader: {"sha256", "shape", "dtype", "attributes"} or {"error"}}
    python n5.py echo               stdin: JSON list of {"path", "dtype", "shape", "elements" (bytes), "copy"}; stdout: JSON list, in
                                    the same order, of {reader: {"sha256" (null: does not read), "wrote"}}; `copy`-`reader` is made
                                    a dataset with the same attributes.json, whose blocks are written by the library

Axes are those of N5 reversed; `sha256` is over the elements in C order, little-endian. tensorstore tells no attributes: null.
"""

import itertools
import json
import pathlib
import shutil
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
SHAPES = [
    ((11,), (4,)),
    ((9, 10), (5, 5)),
    ((5, 7, 6), (2, 3, 6)),
    ((3, 2, 4, 5), (2, 2, 3, 2)),
    ((3, 2, 3, 1, 4), (2, 2, 2, 1, 3)),
]
ATTRIBUTES = {"comment": "µm", "offset": [1, -2.5], "made": {"by": None, "blocks": True}}
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


def with_tensorstore(path, numbers, chunks, compression, rows):
    metadata = {
        "dimensions": numbers.shape[::-1], "blockSize": chunks[::-1], "dataType": numbers.dtype.name, "compression": compression,
    }
    spec = {"driver": "n5", "kvstore": {"driver": "file", "path": path}, "metadata": metadata, "create": True}
    tensorstore.open(spec).result()[..., :rows].write(numbers[:rows].T).result()
    document = pathlib.Path(path) / "attributes.json"  # attributes are not its business
    document.write_text(json.dumps({**json.loads(document.read_text()), **ATTRIBUTES}))


def with_z5py(path, numbers, chunks, compression, rows):
    path = pathlib.Path(path)
    file = z5py.File(str(path.parent), mode="a", use_zarr_format=False)
    array = file.create_dataset(path.name, shape=numbers.shape, dtype=numbers.dtype, chunks=chunks, compression=compression)
    array[:rows] = numbers[:rows]
    array.attrs.update(ATTRIBUTES)


def with_zarr(path, numbers, chunks, compressor, rows):
    path = pathlib.Path(path)
    store = zarr.N5Store(str(path.parent))
    array = zarr.create(
        numbers.shape, chunks=chunks, dtype=numbers.dtype, compressor=compressor and zarr.codecs.get_codec(compressor), store=store,
        path=path.name,
    )
    array[:rows] = numbers[:rows]
    array.attrs.update(ATTRIBUTES)


def described(numbers, attributes):
    return {"sha256": digest(numbers), "shape": numbers.shape, "dtype": numbers.dtype.name, "attributes": attributes}


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
            rows = chunks[0] if len(made) % 3 == 0 else shape[0]  # of every third array, blocks are missing
            numbers[rows:] = 0
            path = str(container / f"a{len(made)}")
            writer(path, numbers, chunks, compression, rows)
            made.append({"path": path, **described(numbers, ATTRIBUTES)})
    return made


def sources(directory):
    """Zarr arrays: sharded, in F order, big-endian, with chunks missing and a fill value that N5 does not have."""
    import zarr
    from zarr.codecs import BytesCodec, TransposeCodec

    made = []
    kinds = itertools.product([2, 3], ["plain", "shards", "F", "big"], [0, 7], DTYPES)
    for number, (zarr_format, kind, fill, dtype) in enumerate(kinds):
        if zarr_format == 2 and kind == "shards":
            continue
        shape, chunks = SHAPES[number % len(SHAPES)]
        numbers, options, reverse = values(shape, dtype), {}, tuple(range(len(shape)))[::-1]
        if kind == "shards":
            options["shards"] = [2 * extent for extent in chunks]
        elif kind == "F" and zarr_format == 2:
            options["order"] = "F"
        elif kind == "F":
            options["filters"] = [TransposeCodec(order=reverse)]
        elif kind == "big" and zarr_format == 3:
            options["serializer"] = BytesCodec(endian="big")
        rows = (2 * chunks[0] if kind == "shards" else chunks[0]) if number % 2 else shape[0]
        path = str(pathlib.Path(directory) / f"{kind}-{zarr_format}-{number}")
        stored = numbers.dtype.newbyteorder(">") if kind == "big" and zarr_format == 2 else numbers.dtype
        array = zarr.create_array(
            path, zarr_format=zarr_format, shape=shape, chunks=chunks, dtype=stored, fill_value=fill, attributes=ATTRIBUTES, **options,
        )
        array[:rows] = numbers[:rows]
        numbers[rows:] = fill
        made.append({"path": path, "format": zarr_format, **described(numbers, ATTRIBUTES)})
    return made


def opening(path, mode):
    """How each library opens a dataset; axes in C order."""
    path = pathlib.Path(path)
    if IS_TENSORSTORE:
        spec = {"driver": "n5", "kvstore": {"driver": "file", "path": str(path)}}
        return {"tensorstore": lambda: tensorstore.open(spec).result().T}
    return {
        "z5py": lambda: z5py.File(str(path.parent), mode=mode, use_zarr_format=False)[path.name],
        "zarr": lambda: zarr.open_array(zarr.N5Store(str(path.parent)), path=path.name, mode=mode),
    }


def found(array):
    attributes = None if IS_TENSORSTORE else dict(array.attrs.items())
    return described(np.asarray(array[...]), attributes)


def reading(path):
    return {name: lambda open=open: found(open()) for name, open in opening(path, "r").items()}


def wrote(name, job):
    copy = pathlib.Path(f"{job['copy']}-{name}")
    copy.mkdir(parents=True)
    shutil.copy(pathlib.Path(job["path"]) / "attributes.json", copy)
    (copy.parent / "attributes.json").write_text('{"n5": "2.0.0"}')
    array = opening(copy, "r+")[name]()
    array[...] = np.frombuffer(bytes(job["elements"]), job["dtype"]).reshape(job["shape"])
    return {}


def echo(job):
    answers = {}
    for name, read in reading(job["path"]).items():
        written = answer(lambda name=name: wrote(name, job))
        answers[name] = {"sha256": answer(read).get("sha256"), "wrote": "error" not in written}
    return answers


def answer(read):
    try:
        return read()
    except Exception as error:  # what a reader does not take is an answer too
        return {"error": f"{type(error).__name__}: {error}"}


if sys.argv[1] == "read":
    answers = [{name: answer(read) for name, read in reading(path).items()} for path in json.load(sys.stdin)]
elif sys.argv[1] == "echo":
    answers = [echo(job) for job in json.load(sys.stdin)]
else:
    answers = {"make": make, "sources": sources}[sys.argv[1]](sys.argv[2])
json.dump(answers, sys.stdout)
