"""Reads arrays with libraries that are not ours, and writes what they have read.

    python echo.py zarr|tensorstore

stdin:  JSON list of {"path", "format": 2 | 3, "copy"}
stdout: JSON list, in the same order, of {"sha256", "wrote"} or {"error"}; the digest is that of read.py

`copy` is made a directory with the same metadata document, whose chunks are written by the library.
"""

import json
import pathlib
import shutil
import sys

import numpy as np
import read


def with_zarr(job):
    import zarr

    options = {} if zarr.__version__.startswith("2.") else {"zarr_format": job["format"]}
    values = np.asarray(zarr.open_array(job["path"], mode="r", **options)[...])
    zarr.open_array(job["copy"], mode="r+", **options)[...] = values


def with_tensorstore(job):
    import tensorstore

    spec = {"driver": {2: "zarr", 3: "zarr3"}[job["format"]]}
    opened = [
        tensorstore.open({**spec, "kvstore": {"driver": "file", "path": job[name]}}, open=True).result()
        for name in ["path", "copy"]
    ]
    opened[1].write(opened[0].read().result()).result()


def echo(job, library):
    answer = read.read({"path": job["path"], "format": job["format"], "reader": library})
    if "error" in answer:
        return answer
    name = {2: ".zarray", 3: "zarr.json"}[job["format"]]
    pathlib.Path(job["copy"]).mkdir()
    shutil.copy(pathlib.Path(job["path"]) / name, job["copy"])
    try:
        {"zarr": with_zarr, "tensorstore": with_tensorstore}[library](job)
        return {"sha256": answer["sha256"], "wrote": True}
    except Exception:  # it reads only
        return {"sha256": answer["sha256"], "wrote": False}


if __name__ == "__main__":
    json.dump([echo(job, sys.argv[1]) for job in json.load(sys.stdin)], sys.stdout)
