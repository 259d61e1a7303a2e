"""Groups and stores that are not directories, with libraries that are not ours.

stdin:  JSON list of jobs
        {"do": "consolidate", "path", "format"}             consolidates the metadata of a group
        {"do": "read", "path", "array", "format"}           reads an array by the consolidated metadata of a group
        {"do": "zip", "path", "target", "name", "deflate"}  copies an array into a new ZipStore
stdout: JSON list, in the same order, of {"ok"}, or for "read" {"shape", "chunks", "sha256", "units", "members"}
"""

import json
import sys
import zipfile

import numpy as np
import zarr

from read import digest

IS_2 = zarr.__version__.startswith("2.")


def consolidate(job):
    if IS_2:
        zarr.consolidate_metadata(zarr.DirectoryStore(job["path"]))
    else:
        zarr.consolidate_metadata(job["path"], zarr_format=job["format"])
    return {"ok": True}


def read(job):
    if IS_2:
        group = zarr.open_consolidated(zarr.DirectoryStore(job["path"]), mode="r")
        members = []
        group.visit(members.append)
    else:
        group = zarr.open_group(
            job["path"], mode="r", zarr_format=job["format"], use_consolidated=True
        )
        members = [name for name, _ in group.members(max_depth=None)]
    array = group[job["array"]]
    return {
        "shape": list(array.shape),
        "chunks": list(array.chunks),
        "sha256": digest(np.asarray(array[...])),
        "units": array.attrs.get("units"),
        "members": sorted(members),
    }


def into_zip(job):
    source = zarr.open_array(job["path"], mode="r")
    compression = zipfile.ZIP_DEFLATED if job["deflate"] else zipfile.ZIP_STORED
    if IS_2:
        store = zarr.ZipStore(job["target"], mode="w", compression=compression)
        array = zarr.array(source[...], chunks=source.chunks, store=store, path=job["name"])
    else:
        store = zarr.storage.ZipStore(job["target"], mode="w", compression=compression)
        array = zarr.create_array(
            store, name=job["name"], data=np.asarray(source[...]), chunks=source.chunks
        )
    # Twice, which leaves a document under one name twice: the last one counts.
    array.attrs["units"] = "degrees"
    array.attrs["units"] = "K"
    store.close()
    return {"ok": True}


if __name__ == "__main__":
    doing = {"consolidate": consolidate, "read": read, "zip": into_zip}
    json.dump([doing[job["do"]](job) for job in json.load(sys.stdin)], sys.stdout)
