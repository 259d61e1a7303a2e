"""Groups and stores that are not directories, with libraries that are not ours.

stdin:  JSON list of jobs
        {"do": "consolidate", "path", "format"}             consolidates the metadata of a group
        {"do": "read", "path", "array", "format"}           reads an array by the consolidated metadata of a group
        {"do": "zip", "path", "target", "name", "deflate"}  copies an array into a new ZipStore
        {"do": "tree", "path", "format"}                    writes a group of groups and arrays, consolidated
        {"do": "members", "path", "format"}                 reads everything below a group, by its consolidated metadata
                                                            alone: path -> {"attributes", and of arrays "shape",
                                                            "chunks", "sha256"}; attributes as a text of JSON
        {"do": "walk", "path", "format"}                    the paths of all that is below a group, from group to group
                                                            by consolidated metadata; or what went wrong, as a text
stdout: JSON list, in the same order, of {"ok"}, or the members, or the paths, or for "read" {"shape", "chunks", "sha256", "units", "members"}
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


def tree(job):
    """Nested, with an empty group, a scalar, arrays of other rank, and attributes that are no JSON."""
    if IS_2:
        root = zarr.open_group(zarr.DirectoryStore(job["path"]), mode="w")
    else:
        root = zarr.open_group(job["path"], mode="w", zarr_format=job["format"])

    def array(group, name, data, chunks, dimensions):
        dimensions = dimensions.split()
        if IS_2:
            made = group.array(name, data, chunks=chunks or True, fill_value=0)
            made.attrs["_ARRAY_DIMENSIONS"] = dimensions
        elif job["format"] == 2:
            made = group.create_array(name, data=data, chunks=chunks, fill_value=0)
            made.attrs["_ARRAY_DIMENSIONS"] = dimensions
        else:
            made = group.create_array(
                name, data=data, chunks=chunks, fill_value=0, dimension_names=dimensions
            )
        made.attrs["units"] = name

    root.attrs.update({"title": "tree", "bad": float("nan"), "far": -float("inf"), "z": 1.0})
    cube = np.arange(1, 1 + 12 * 10 * 8, dtype="<f4").reshape(12, 10, 8)
    air = root.create_group("air")
    air.attrs["level"] = [float("nan"), 2]
    array(air, "t", cube, (1, 10, 8), "time lat lon")
    array(air, "u", cube * 2, (5, 4, 8), "time lat lon")
    deep = air.create_group("deep/er")
    array(deep, "mask", np.arange(80, dtype="<u2").reshape(10, 8), (3, 8), "lat lon")
    array(root, "lat", np.linspace(0, 1, 10), (10,), "lat")
    array(root, "crs", np.array(7, dtype="<i4"), (), "")
    root.create_group("empty").attrs["why"] = "kept"
    consolidate(job)
    return {"ok": True}


def members(job):
    if IS_2:
        root = zarr.open_consolidated(zarr.DirectoryStore(job["path"]), mode="r")
        found = []
        root.visititems(lambda name, node: found.append((name, node)))
    else:
        root = zarr.open_group(
            job["path"], mode="r", zarr_format=job["format"], use_consolidated=True
        )
        found = list(root.members(max_depth=None))
    answer = {}
    for name, node in [("", root), *found]:
        about = {"attributes": json.dumps(dict(node.attrs), sort_keys=True)}
        if isinstance(node, zarr.Array):
            about["shape"], about["chunks"] = list(node.shape), list(node.chunks)
            about["sha256"] = digest(np.asarray(node[...]))
        answer[name] = about
    return answer


def walk(job):
    def below(group, prefix):
        names = list(group) if IS_2 else [name for name, _ in group.members()]
        for name in names:
            found.append(prefix + name)
            node = group[name]
            if not isinstance(node, zarr.Array):
                below(node, f"{prefix}{name}/")

    found = []
    try:
        if IS_2:
            root = zarr.open_consolidated(zarr.DirectoryStore(job["path"]), mode="r")
        else:
            root = zarr.open_group(
                job["path"], mode="r", zarr_format=job["format"], use_consolidated=True
            )
        below(root, "")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    doing = {
        "tree": tree,
        "members": members,
        "walk": walk,
        "consolidate": consolidate,
        "read": read,
        "zip": into_zip,
    }
    json.dump([doing[job["do"]](job) for job in json.load(sys.stdin)], sys.stdout)
