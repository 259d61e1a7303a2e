"""Precomputed volumes of tensorstore.

    python precomputed.py make DIRECTORY   writes volumes; stdout: JSON list of {"path", "sha256", "shape", "dtype", "encoding", "offset"}
    python precomputed.py shards DIRECTORY writes volumes in shards, likewise
    python precomputed.py scales PATH      stdout: JSON list, one for each scale, as of `read` without `difference`
    python precomputed.py read             stdin: JSON list of [path, path of another volume]; stdout: JSON list, in the same
                                           order, of {"sha256", "shape", "offset", "resolution", "difference" (the largest of
                                           any element from that of the other volume)} or {"error"}

`shape` is z, y, x, or c, z, y, x with several channels; `sha256` is over the elements in that order, little-endian.
"""

import json
import pathlib
import sys

import numpy as np
import tensorstore
from read import digest

ENCODINGS = {
    "uint8": ["raw", "jpeg", "png"],
    "uint16": ["raw", "png"],
    "uint32": ["raw", "compressed_segmentation"],
    "uint64": ["raw", "compressed_segmentation"],
    "int8": ["raw"],
    "int16": ["raw"],
    "int32": ["raw"],
    "float32": ["raw"],
}
# Size, chunk, channels, offset along x, y, z: odd, whole, one chunk, channels.
VOLUMES = [
    ((21, 13, 9), (8, 5, 4), 1, (-3, 7, 0)),
    ((16, 10, 8), (8, 5, 4), 1, (0, 0, 0)),
    ((5, 6, 7), (64, 64, 64), 1, (100, -200, 3)),
    ((9, 8, 7), (4, 8, 3), 3, (1, 2, 3)),
]
# Hash, bits and encodings of shards: boxes with one table and with several, by a hash, and with too few bits.
SHARDS = [
    ("identity", 1, 2, 5, "raw", "raw"),
    ("identity", 3, 0, 8, "gzip", "gzip"),
    ("murmurhash3_x86_128", 1, 1, 2, "gzip", "raw"),
    ("identity", 1, 1, 1, "raw", "gzip"),
]
RANDOM = np.random.default_rng(20261130)


def kvstore(path):
    return {"driver": "file", "path": f"{path}/"}


def elements(store):
    """The elements of a volume in our order: x, y, z, channel turned round, one channel left out."""
    found = np.ascontiguousarray(store.read().result().T)
    return found[0] if found.shape[0] == 1 else found


def labels(shape, dtype):
    """Few values in large areas, all bits of the type."""
    if dtype == "float32":
        return RANDOM.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    values = RANDOM.integers(info.min, info.max, size=7, dtype=dtype, endpoint=True)
    return values[RANDOM.integers(0, 7, size=shape) // 2]


def smooth(shape):
    """Colours that change slowly: decoders of JPEG agree on them but for a step or two."""
    x, y, z, channel = np.indices(shape)
    return (3 * x + 2 * y + 4 * z + 50 * channel).astype("uint8")


def sharding(number):
    hash_, preshift, minishard, shard, index, data = SHARDS[number]
    return {
        "@type": "neuroglancer_uint64_sharded_v1", "hash": hash_, "preshift_bits": preshift, "minishard_bits": minishard,
        "shard_bits": shard, "minishard_index_encoding": index, "data_encoding": data,
    }


def make(directory, in_shards):
    made = []
    for dtype, encodings in ENCODINGS.items():
        for encoding in encodings:
            for number, (size, chunk, channels, offset) in enumerate(VOLUMES):
                path = pathlib.Path(directory) / f"{dtype}-{encoding}-{number}"
                scale = {
                    "size": size, "chunk_size": chunk, "voxel_offset": offset, "resolution": [4, 4.5, 40],
                    "encoding": encoding,
                }
                if encoding == "compressed_segmentation":
                    scale["compressed_segmentation_block_size"] = [8, 4, 3]
                if in_shards:
                    # Each box meets another kind with each type and encoding.
                    scale["sharding"] = sharding((number + len(made) // len(VOLUMES)) % len(SHARDS))
                spec = {
                    "driver": "neuroglancer_precomputed",
                    "kvstore": kvstore(path),
                    "multiscale_metadata": {"data_type": dtype, "num_channels": channels, "type": "image"},
                    "scale_metadata": scale,
                }
                store = tensorstore.open(spec, create=True).result()
                store.write(smooth(store.shape) if encoding == "jpeg" else labels(store.shape, dtype)).result()
                found = elements(store)
                made.append({
                    "path": str(path), "sha256": digest(found), "shape": found.shape, "dtype": dtype,
                    "encoding": encoding, "offset": offset,
                })
    return made


def opened(path, number=0):
    spec = {"driver": "neuroglancer_precomputed", "kvstore": kvstore(path), "scale_index": number}
    return tensorstore.open(spec, open=True, read=True).result()


def scales(path):
    found = []
    for number in range(len(json.loads(pathlib.Path(path, "info").read_text())["scales"])):
        store = opened(path, number)
        array = elements(store)
        found.append({
            "sha256": digest(array), "shape": array.shape, "offset": store.domain.inclusive_min[:3],
            "resolution": [float(unit.multiplier) for unit in store.dimension_units[:3]],
        })
    return found


def read(path, other):
    try:
        store = opened(path)
        found = elements(store)
        difference = np.abs(found.astype("float64") - elements(opened(other)).astype("float64"))
        unit = [float(unit.multiplier) for unit in store.dimension_units[:3]]
        return {
            "sha256": digest(found), "shape": found.shape, "offset": store.domain.inclusive_min[:3], "resolution": unit,
            "difference": float(difference.max()),
        }
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return {"error": str(error)}


if __name__ == "__main__":
    match sys.argv[1]:
        case "make":
            answer = make(sys.argv[2], in_shards=False)
        case "shards":
            answer = make(sys.argv[2], in_shards=True)
        case "scales":
            answer = scales(sys.argv[2])
        case "read":
            answer = [read(*paths) for paths in json.load(sys.stdin)]
    json.dump(answer, sys.stdout)
