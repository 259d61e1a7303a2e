"""Holds data sets against each other as xarray sees them.

stdin:  JSON list of {"a", "b", "tree"}: places of Zarr groups; "tree" to compare all groups below them too
stdout: JSON list, in the same order, of null where they are identical (dimensions, names, attributes, coordinates and
        values, masked and decoded), else what is different
"""

import json
import sys

import xarray as xr


def opened(path, tree):
    if tree:
        return xr.open_datatree(path, engine="zarr", chunks=None, consolidated=None)
    return xr.open_zarr(path, chunks=None, consolidated=None)


def difference(job):
    a, b = (opened(job[side], job["tree"]) for side in ("a", "b"))
    try:
        xr.testing.assert_identical(a.load(), b.load())
    except AssertionError as error:
        return str(error)
    return None


if __name__ == "__main__":
    json.dump([difference(job) for job in json.load(sys.stdin)], sys.stdout)
