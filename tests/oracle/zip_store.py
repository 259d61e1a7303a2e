"""Reads ZIP files of Zarr hierarchies with the ZIP store of zarr-python, and with tensorstore where that is installed.

stdin:  JSON list of {"zip", "directory"}: the file, and a directory that holds the same hierarchy
stdout: JSON list, in the same order, of {"names", "comment", "problems"}: the names of the entries in the order of the
        directory of the file, its comment, and what is different or wrong
"""

import json
import sys
import zipfile

import numpy as np
import zarr

IS_V3 = zarr.__version__.startswith("3")


def opened(job, side):
    if side == "directory":
        return zarr.open(job["directory"], mode="r")
    store = zarr.storage.ZipStore(job["zip"], mode="r") if IS_V3 else zarr.ZipStore(job["zip"], mode="r")
    return zarr.open(store, mode="r")


def nodes(node, path=""):
    """All nodes by path."""
    found = {path: node}
    if hasattr(node, "groups"):
        for kind in (node.groups(), node.arrays()):
            for name, member in kind:
                found |= nodes(member, f"{path}/{name}" if path else name)
    return found


def by_tensorstore(job, path, expected):
    if not IS_V3 or expected.metadata.zarr_format != 3:
        return []
    import tensorstore as ts

    base = {"driver": "file", "path": job["zip"]}
    store = {"driver": "zip", "base": base, "path": f"{path}/" if path else ""}
    found = ts.open({"driver": "zarr3", "kvstore": store}, read=True).result().read().result()
    return [] if np.array_equal(found, expected[...]) else [f"tensorstore reads {path} otherwise"]


def answer(job):
    with zipfile.ZipFile(job["zip"]) as file:
        entries = file.infolist()
        names = [entry.filename for entry in entries]
        problems = [f"{file.testzip()} is damaged"] if file.testzip() else []
        offsets = [entry.header_offset for entry in entries]
        if offsets != sorted(offsets) or offsets[0] != 0 or len(set(names)) != len(names):
            problems.append("the entries are not in order, or twice")
        problems += [f"{entry.filename} is compressed" for entry in entries if entry.compress_type != zipfile.ZIP_STORED]
        comment = file.comment.decode()
    found, expected = (nodes(opened(job, side)) for side in ("zip", "directory"))
    if list(found) != list(expected):
        problems.append(f"{list(found)} are there, not {list(expected)}")
    for path, node in expected.items():
        if dict(found[path].attrs) != dict(node.attrs):
            problems.append(f"{path} has other attributes")
        if not hasattr(node, "groups"):
            if not np.array_equal(found[path][...], node[...]):
                problems.append(f"{path} has other elements")
            problems += by_tensorstore(job, path, node)
    return {"names": names, "comment": comment, "problems": problems}


if __name__ == "__main__":
    json.dump([answer(job) for job in json.load(sys.stdin)], sys.stdout)
