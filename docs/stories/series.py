"""Reads time series of the same places from two data sets, compares and times them.

    series.py BEFORE AFTER VARIABLE

Each place is read by itself, as an analysis of one station, buoy or field does.
"""

import sys
import time

import numpy as np
import xarray as xr

PLACES = 60


def series(path, name):
    """The series of some places, and the seconds it took to read them."""
    array = xr.open_zarr(path, chunks=None, consolidated=None)[name]
    rows, columns = array.sizes["latitude"], array.sizes["longitude"]
    places = [(i * 7 % rows, i * 97 % columns) for i in range(PLACES)]
    started = time.perf_counter()
    read = [array.isel(latitude=row, longitude=column).to_numpy() for row, column in places]
    return np.stack(read), time.perf_counter() - started


before, after, name = sys.argv[1:]
(expected, slow), (found, fast) = series(before, name), series(after, name)
np.testing.assert_array_equal(found, expected)
print(f"{PLACES} series of {expected.shape[1]} months, the same: {slow / fast:.1f} times as fast as before")
