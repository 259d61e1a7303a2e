"""Arrays of numcodecs' zfpy, written and read by zarr-python.

    zfp.py available          exit code 0 where numcodecs has zfpy
    zfp.py make DIRECTORY     writes arrays; prints a JSON list of {"path", "format", "sha256"}
    zfp.py read < JOBS        a JSON list of {"path", "format"}; prints {"sha256"} or {"error"} of each

`sha256` is over the elements as zfpy decodes them, C order, little-endian.
"""

import hashlib
import json
import pathlib
import sys

MODES = {
    "accuracy": {"mode": 4, "tolerance": 0.01},
    "rate": {"mode": 2, "rate": 9.5},
    "precision": {"mode": 3, "precision": 14},
    "reversible": {"mode": 4, "tolerance": -1},
}
TYPES = ["int32", "int64", "float32", "float64"]
SHAPES = {1: ([50], [20]), 2: ([10, 12], [4, 12]), 3: ([5, 6, 7], [1, 6, 4]), 4: ([3, 4, 5, 6], [2, 3, 5, 6])}


def digest(path, zarr_format):
    import zarr

    values = zarr.open_array(path, mode="r", zarr_format=zarr_format)[...]
    return hashlib.sha256(values.astype(values.dtype.newbyteorder("<")).tobytes()).hexdigest()


def make(directory):
    import numpy as np
    import zarr
    from numcodecs.zfpy import ZFPY
    from zarr.codecs.numcodecs import ZFPY as ZFPY3

    made = []
    for mode, settings in MODES.items():
        for dtype in TYPES:
            for rank, (shape, chunks) in SHAPES.items():
                values = (np.arange(np.prod(shape)).reshape(shape) * 1.37 % 100).astype(dtype)
                for zarr_format in (2, 3):
                    path = str(pathlib.Path(directory) / f"{mode}-{dtype}-{rank}-v{zarr_format}")
                    codec = {"compressors": ZFPY(**settings)} if zarr_format == 2 else {"serializer": ZFPY3(**settings), "compressors": None}
                    array = zarr.create_array(path, shape=shape, chunks=chunks, dtype=dtype, zarr_format=zarr_format, **codec)
                    array[...] = values
                    made.append({"path": path, "format": zarr_format, "sha256": digest(path, zarr_format)})
    return made


def read(jobs):
    answers = []
    for job in jobs:
        try:
            answers.append({"sha256": digest(job["path"], job["format"])})
        except Exception as error:  # noqa: BLE001 any way to fail is an answer
            answers.append({"error": f"{type(error).__name__}: {error}"[:300]})
    return answers


match sys.argv[1:]:
    case ["available"]:
        import numcodecs.zfpy
        import zarr.codecs.numcodecs

        sys.exit(not hasattr(numcodecs.zfpy, "ZFPY"))
    case ["make", directory]:
        json.dump(make(directory), sys.stdout)
    case ["read"]:
        json.dump(read(json.load(sys.stdin)), sys.stdout)
