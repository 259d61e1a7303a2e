"""Reads arrays with libraries that are not ours.

stdin:  JSON list of {"path", "reader": "zarr" | "tensorstore" | "any", "format": 2 | 3}
stdout: JSON list, in the same order, of
        {"shape", "dtype", "sha256", "chunks", "fill_hex", "attributes", "dimension_names", "reader"} or {"error"}

`sha256` is over the decoded elements in C order, little-endian. `reader: zarr` means the zarr-python of the
environment this runs in (2 or 3); `any` is zarr, or tensorstore where zarr cannot. `_ARRAY_DIMENSIONS`, by which Zarr v2 names dimensions, is told as
`dimension_names` and left out of the attributes. What a reader does not know is null.
"""

import hashlib
import json
import math
import pathlib
import sys

import numpy as np

DIMENSIONS = "_ARRAY_DIMENSIONS"


def digest(values):
    """SHA-256 of the elements, C order, little-endian; of their JSON where they are strings of any length."""
    if values.dtype.kind in "OT":
        return hashlib.sha256(json.dumps(values.tolist()).encode()).hexdigest()
    if values.dtype.kind == "V" and not values.dtype.names and values.dtype.type is not np.void:
        return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()  # ml_dtypes: no byte order
    little = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(little.tobytes(order="C")).hexdigest()


def plain(value):
    """A JSON value without NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def fill_hex(fill, dtype):
    """Fill value as little-endian bytes in hex; None where there is none."""
    if fill is None:
        return None
    if dtype.kind in "OT":
        return str(fill).encode().hex()
    return np.asarray(fill).astype(dtype.newbyteorder("<")).tobytes().hex()


def chunks_of(array):
    """The shape of a chunk; null where chunks differ in length."""
    try:
        return list(array.chunks)
    except NotImplementedError:
        return None


def with_zarr(path, zarr_format):
    import zarr

    if zarr.__version__ >= "3.2":
        zarr.config.set({"array.rectilinear_chunks": True})

    if zarr.__version__.startswith("2."):
        array = zarr.open_array(path, mode="r")
        names = None
    else:
        array = zarr.open_array(path, mode="r", zarr_format=zarr_format)
        names = getattr(array.metadata, "dimension_names", None)
    attributes = dict(array.attrs)
    if zarr_format == 2:
        names = attributes.pop(DIMENSIONS, None)
    dtype = np.dtype(array.dtype)
    return {
        "shape": list(array.shape),
        "dtype": "string" if dtype.kind in "OT" else dtype.name,
        "sha256": digest(np.asarray(array[...])),
        "chunks": chunks_of(array),
        "fill_hex": fill_hex(array.fill_value, dtype),
        "attributes": plain(attributes),
        "dimension_names": list(names) if names is not None else None,
    }


def with_tensorstore(path, zarr_format):
    import tensorstore

    driver = {2: "zarr", 3: "zarr3"}[zarr_format]
    store = tensorstore.open(
        {"driver": driver, "kvstore": {"driver": "file", "path": path}}, open=True, read=True
    ).result()
    values = np.asarray(store.read().result())
    shape = list(store.shape)
    if zarr_format == 2:
        shape = json.loads((pathlib.Path(path) / ".zarray").read_text(), parse_constant=str)["shape"]
    if len(shape) < values.ndim:  # the bytes of a string are an axis to tensorstore
        raise ValueError("not compared: strings of bytes")
    return {
        "shape": shape,
        "dtype": np.dtype(values.dtype).name,
        "sha256": digest(values),
        "chunks": list(store.chunk_layout.read_chunk.shape or [])[: len(shape)],
        "fill_hex": None,
        "attributes": None,
        "dimension_names": None,
    }


def read(job):
    readers = {"zarr": with_zarr, "tensorstore": with_tensorstore}
    answer = {}
    for name in ["zarr", "tensorstore"] if job["reader"] == "any" else [job["reader"]]:
        try:
            return {"reader": name, **readers[name](job["path"], job["format"])}
        except Exception as error:  # whatever a reader says is the test's to judge
            answer = answer or {"error": f"{type(error).__name__}: {str(error)[:600]}"}
    return answer


if __name__ == "__main__":
    json.dump([read(job) for job in json.load(sys.stdin)], sys.stdout)
