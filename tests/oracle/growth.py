"""Archives that grow, as xarray makes them grow.

growth.py make DIRECTORY FORMAT   writes into DIRECTORY an archive (ours.zarr, and once more as theirs.zarr), days to
                                  append (more-1.zarr, more-2.zarr), and one whose time has another unit (other.zarr);
                                  appends the days to theirs.zarr
growth.py compare A B             whether two groups are identical for xarray, by their consolidated metadata:
                                  values, coordinates, attributes
stdout: JSON, {"days": [...]} or {"identical", "days", "consolidated"}
"""

import json
import sys

import numpy as np
import xarray as xr

UNITS = "days since 2026-01-01"


def days(first, count):
    time = np.datetime64("2026-01-01", "ns") + np.arange(first, first + count) * np.timedelta64(1, "D")
    values = np.arange(first * 30, (first + count) * 30, dtype="f4").reshape(count, 5, 6)
    values[:, 1, :] = np.nan
    return xr.Dataset(
        {
            "sst": (("time", "lat", "lon"), values, {"units": "K"}),
            "quality": (("time", "lat", "lon"), (values.astype("u4") % 7).astype("u1")),
            "mask": (("lat", "lon"), np.arange(30, dtype="i2").reshape(5, 6)),
        },
        {"time": time, "lat": np.linspace(0, 1, 5), "lon": np.linspace(0, 1, 6)},
        {"title": "archive"},
    )


def make(directory, version):
    def write(name, data, chunks, units=UNITS):
        encoding = {
            "sst": {"chunks": chunks},
            "quality": {"chunks": chunks},
            "time": {"units": units, "dtype": "int64", "chunks": (chunks[0] + 1,)},
        }
        path = f"{directory}/{name}.zarr"
        data.to_zarr(path, mode="w", encoding=encoding, zarr_format=version, consolidated=True)

    for name in ["ours", "theirs"]:
        write(name, days(0, 7), (4, 2, 3))
    parts = [days(7, 3), days(10, 11)]
    for number, part in enumerate(parts):
        write(f"more-{number + 1}", part, (1, 5, 6))
        # Chunks of the archive that are there already are written again, in one process.
        part.to_zarr(f"{directory}/theirs.zarr", append_dim="time", zarr_format=version, consolidated=True)
    write("other", days(21, 1), (1, 5, 6), "days since 2026-01-22")
    return {"days": [len(part.time) for part in parts]}


def compare(one, other):
    found = [xr.open_zarr(path, consolidated=True).load() for path in (one, other)]
    return {"identical": found[0].identical(found[1]), "days": len(found[0].time)}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        answer = make(sys.argv[2], int(sys.argv[3]))
    else:
        answer = compare(*sys.argv[2:])
    json.dump(answer, sys.stdout)
