"""Writes data sets with xarray, of many types of variables, in Zarr v2 and v3.

argv:   a directory that exists
stdout: JSON list of {"path", "format", "tree"}: groups below it; "tree" where there are groups in the group
"""

import json
import sys

import numpy as np
import xarray as xr


def variables():
    """Variables of 24 types along x, some with elements that a fill value could make missing."""
    strings = np.array(["a", "", "ccc", "dö", "", "f"], dtype=object)
    days = np.array(["2000-01-01", "NaT", "2000-01-03", "1970-01-01", "2026-11-27", "2000-01-06"], "M8[ns]")
    numbers = [0, 1, 2, 3, 0, 5]
    found = {f"number_{dtype}": np.array(numbers, dtype) for dtype in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()}
    found["nan"] = np.array([0, np.nan, 2, 3, np.nan, 5], "f4")
    found["flag"] = np.array([False, True, False, False, True, True])
    found["day"] = days
    found["duration"] = days - np.datetime64("1970-01-01")
    found["fixed"] = strings.astype("U")
    found["bytes"] = np.char.encode(strings.astype("U"), "utf-8")
    found["string"] = strings
    found["empty"] = np.array([""] * 6, dtype=object)
    return {name: ("x", values, {"long_name": name}) for name, values in found.items()}


def scalars():
    return {
        "crs": ((), np.int32(0), {"grid_mapping_name": "latitude_longitude", "crs_wkt": "GEOGCRS[]"}),
        "none": ((), np.float32(0)),
        "nan_scalar": ((), np.nan),
        "no": ((), False),
        "nothing": ((), ""),
        "start": ((), np.datetime64("1970-01-01", "ns")),
    }


def types():
    packed = ("x", np.array([0.0, np.nan, 2.5, 0.1, 1.0, 0.0]))
    marked = ("x", np.array([0.0, np.nan, 2.0, 3.0, -1.0, 5.0]))
    data = {**variables(), **scalars(), "packed": packed, "marked": marked}
    coordinates = {"height": 2.0, "x": np.arange(6), "station": ("x", np.array(["p", "", "r", "s", "t", "u"]))}
    encoding = {
        "packed": {"dtype": "i2", "scale_factor": 0.1, "add_offset": 1.0, "_FillValue": -32768},
        "marked": {"_FillValue": -999.0},
    }
    return xr.Dataset(data, coordinates, {"title": "types"}), encoding


def named():
    """Names of variables and dimensions that keys, options and patterns could trip over."""
    names = ["sea level", "t.mean", "größe", "0", "2m_temperature", "a-b_(c)", "日本", "c", "zarr.txt"]
    data = {name: (("time of day", "ß.1"), np.arange(12, dtype="i4").reshape(4, 3)) for name in names}
    return xr.Dataset(data, {"ß.1": [0, 1, 2]}, {"title": "names"}), {}


def tree():
    dataset, _ = named()
    inner = xr.Dataset({"crs": ((), 0), "v": (("y", "x"), np.zeros((4, 6), "u2")), "text": ("y", ["", "a", "b", ""])}, {"height": 0.0})
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs={"title": "tree"}), "/a": inner, "/a/b c": inner, "/d.e/f": dataset})


def main(directory):
    made = []
    for version in (2, 3):
        for name, (dataset, encoding) in {"types": types(), "names": named()}.items():
            path = f"{directory}/{name}-v{version}.zarr"
            dataset.to_zarr(path, zarr_format=version, encoding={k: dict(v) for k, v in encoding.items()})
            made.append({"path": path, "format": version, "tree": False})
        path = f"{directory}/tree-v{version}.zarr"
        tree().to_zarr(path, zarr_format=version)
        made.append({"path": path, "format": version, "tree": True})
    return made


if __name__ == "__main__":
    json.dump(main(sys.argv[1]), sys.stdout)
