"""Precomputed volumes of cloud-volume.

    python cloud_volume.py make DIRECTORY   writes volumes, with files compressed as it can; stdout: JSON list of {"path", "sha256"}
    python cloud_volume.py read             stdin: JSON list of paths; stdout: JSON list of {"sha256", "shape", "offset"} or {"error"}

`shape` is z, y, x, or c, z, y, x with several channels; `sha256` is over the elements in that order, little-endian.
"""

import hashlib
import json
import pathlib
import sys

import numpy as np
from cloudvolume import CloudVolume

# Type, encoding, compression of files.
VOLUMES = [
    ("uint8", "raw", "gzip"),
    ("uint8", "raw", "br"),
    ("uint8", "png", "br"),
    ("uint32", "compressed_segmentation", "gzip"),
    ("uint64", "compressed_segmentation", "br"),
    ("float32", "raw", False),
]
RANDOM = np.random.default_rng(20261130)


def elements(volume):
    found = np.ascontiguousarray(np.asarray(volume[:, :, :]).T)
    return found[0] if found.shape[0] == 1 else found


def digest(array):
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()


def make(directory):
    made = []
    for dtype, encoding, compress in VOLUMES:
        path = pathlib.Path(directory) / f"{dtype}-{encoding}-{compress}"
        is_labels = encoding == "compressed_segmentation"
        info = CloudVolume.create_new_info(
            num_channels=1, layer_type="segmentation" if is_labels else "image", data_type=dtype, encoding=encoding,
            resolution=[4, 4, 40], voxel_offset=[-3, 7, 0], chunk_size=[8, 5, 4], volume_size=[21, 13, 9],
        )
        volume = CloudVolume(f"file://{path}", info=info, compress=compress, progress=False, non_aligned_writes=True)
        volume.commit_info()
        values = RANDOM.integers(0, 100, size=(21, 13, 9, 1)) // 3
        volume[:, :, :] = np.asfortranarray(values.astype(dtype))
        made.append({"path": str(path), "sha256": digest(elements(volume))})
    return made


def read(path):
    try:
        volume = CloudVolume(f"file://{path}", progress=False)
        found = elements(volume)
        offset = [int(place) for place in volume.voxel_offset]
        return {"sha256": digest(found), "shape": found.shape, "offset": offset}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return {"error": str(error)}


if __name__ == "__main__":
    match sys.argv[1]:
        case "make":
            answer = make(sys.argv[2])
        case "read":
            answer = [read(path) for path in json.load(sys.stdin)]
    json.dump(answer, sys.stdout)
