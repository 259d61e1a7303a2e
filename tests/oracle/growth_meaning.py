"""Archives, and days that fit them or do not, as xarray writes them.

growth_meaning.py grids DIRECTORY   writes archive.zarr (five days, four in it and one to come) and for each case of a
                                    day NAME.zarr; also the archive with the day, whole.zarr
growth_meaning.py times DIRECTORY   for each case of counting times: NAME/archive.zarr, NAME/day.zarr, NAME/whole.zarr
stdout: JSON, the names
"""

import json
import sys

import numpy as np
import xarray as xr

DAYS = {"units": "days since 2020-01-01", "dtype": "int64"}
LEVEL, LAT = (1000, 850, 500), (-10.0, 0.0, 10.0, 20.0)


def days(first, count, level=LEVEL, lat=LAT, unit="hPa", positive="down", shift=0.0, crs="EPSG:4326", radius=6371229.0,
         level_type="int32", lat_type="f8", ta_type="f4", step=1, height=2.0, bounds=0.0, name="air_temperature", meanings="land sea"):
    time = np.datetime64("2020-01-01", "ns") + np.arange(first, first + step * count, step) * np.timedelta64(1, "D")
    lat = np.array(lat, lat_type)
    ta = np.add.outer(np.arange(first, first + step * count, step) * 12, np.arange(12)).reshape(count, 3, 4).astype(ta_type)
    return xr.Dataset(
        {
            "ta": (("time", "level", "lat"), ta, {"units": "K", "standard_name": name, "grid_mapping": "crs"}),
            "mask": (("level", "lat"), np.arange(12, dtype="i1").reshape(3, 4) % 2,
                     {"flag_values": np.array([0, 1], "i1"), "flag_meanings": meanings}),
            "crs": ((), np.int32(1), {"crs_wkt": crs, "earth_radius": radius, "grid_mapping_name": "latitude_longitude"}),
        },
        {
            "time": time,
            "level": ("level", np.array(level, level_type), {"units": unit, "positive": positive}),
            "lat": ("lat", lat, {"units": "degrees_north", "standard_name": "latitude", "bounds": "lat_bnds"}),
            "lat_bnds": (("lat", "nv"), np.stack([lat - 5 + bounds, lat + 5 + bounds], 1)),
            "area": (("level", "lat"), np.arange(12.0).reshape(3, 4) + shift),
            "height": ((), height, {"units": "m"}),
        },
        {"title": "archive"},
    )


def write(path, data, version=3, **encoding):
    encoding = {"time": DAYS, **encoding}
    data.to_zarr(path, mode="w", encoding=encoding, zarr_format=version)


def grids(directory):
    write(f"{directory}/archive.zarr", days(0, 4), ta={"chunks": (3, 3, 4)})
    write(f"{directory}/whole.zarr", days(0, 5))
    # Two at a time: from the first day of the archive on, in the other direction, alone.
    write(f"{directory}/down.zarr", days(9, 4, step=-1), ta={"chunks": (3, 3, 4)})
    cases = {
        "same": days(4, 1),
        "lat-flipped": days(4, 1, lat=LAT[::-1]),
        "lat-shifted": days(4, 1, lat=(-10.0, 0.0, 10.0, 20.000000000000004)),
        "lat-float32": days(4, 1, lat_type="f4"),
        "level-other-order": days(4, 1, level=LEVEL[::-1]),
        "level-pascal": days(4, 1, level=(100000, 85000, 50000), unit="Pa"),
        "level-unit-alone": days(4, 1, unit="Pa"),
        "level-up": days(4, 1, positive="up"),
        "level-int64": days(4, 1, level_type="int64"),
        "area-shifted": days(4, 1, shift=0.5),
        "bounds-shifted": days(4, 1, bounds=0.5),
        "height": days(4, 1, height=10.0),
        "crs": days(4, 1, crs="EPSG:3413"),
        "sphere": days(4, 1, radius=6371000.0),
        "ta-float64": days(4, 1, ta_type="f8"),
        "ta-name": days(4, 1, name="dew_point_temperature"),
        "flags": days(4, 1, meanings="sea land"),
        "day-there": days(3, 1),
        "days-overlap": days(2, 3),
        "day-before": days(-1, 1),
        "day-twice": xr.concat([days(4, 1), days(4, 1)], "time", data_vars="minimal", coords="minimal"),
        "days-back": days(6, 3, step=-1),
        "second": days(1, 1),
        "down-goes-on": days(5, 2, step=-1),
        "down-goes-up": days(6, 1),
    }
    for name, data in cases.items():
        write(f"{directory}/{name}.zarr", data)
    # The same day, stored in other ways.
    day = days(4, 1)
    day.attrs["history"] = "made on another day"
    day.lat.attrs["long_name"] = "Latitude"
    day.crs.attrs["comment"] = "a sphere"
    write(f"{directory}/v2.zarr", day, 2, ta={"chunks": (1, 1, 2)}, area={"chunks": (2, 3), "dtype": ">f8"}, lat={"dtype": ">f8"})
    zero = day.copy(deep=True)
    zero = zero.assign_coords(lat=("lat", np.array([-10.0, -0.0, 10.0, 20.0]), day.lat.attrs))
    write(f"{directory}/zero.zarr", zero, area={"chunks": (1, 4)}, level={"chunks": (2,)})
    return list(cases) + ["v2", "zero"]


def times(directory):
    def dataset(first, count, step, calendar=None, bounds=False):
        if calendar is None:
            time = np.datetime64("2021-01-01", "ns") + (first + np.arange(count)) * np.timedelta64(step, "m")
        else:
            time = xr.date_range("2021-02-27", periods=first + count, freq=f"{step}min", calendar=calendar, use_cftime=True)[first:]
        data = {"v": (("time", "x"), np.arange(first * 3, (first + count) * 3, dtype="f4").reshape(-1, 3))}
        if bounds:
            half = np.timedelta64(step, "m") / 2
            data["time_bnds"] = (("time", "nv"), np.stack([time - half, time + half], 1))
        made = xr.Dataset(data, {"time": time})
        if bounds:
            made.time.attrs["bounds"] = "time_bnds"
        return made

    def case(name, step, archive, day, calendar=None, bounds=False, version=3):
        first, second = dataset(0, 4, step, calendar, bounds), dataset(4, 4, step, calendar, bounds)
        whole = dataset(0, 8, step, calendar, bounds)
        for part, data, said in [("archive", first, archive), ("day", second, day), ("whole", whole, archive)]:
            units, dtype = said
            encoding = {"time": {"units": units, "dtype": dtype}}
            write(f"{directory}/{name}/{part}.zarr", data, version, **encoding)

    hours, days_ = "hours since 2021-01-01", "days since 2021-01-01"
    case("other-day", 360, (hours, "int64"), ("hours since 2021-01-02", "int64"))
    case("other-day-v2", 360, (hours, "int64"), ("hours since 2021-01-02", "int64"), version=2)
    case("other-unit", 1440, (days_, "int64"), ("hours since 1999-12-31 06:00:00", "int64"))
    case("finer", 60, ("seconds since 1970-01-01", "int64"), ("minutes since 2021-01-01 04:00", "int32"))
    case("to-floats", 360, (days_, "float64"), ("hours since 2021-01-02T00:00:00Z", "int64"))
    case("from-floats", 60, (hours, "int64"), ("days since 2021-01-01 04:00", "float64"))
    case("floats", 60, (hours, "float64"), ("days since 2021-01-01 04:00", "float64"))
    case("zone", 60, (hours, "int64"), ("hours since 2021-01-01 05:00 +01:00", "int64"))
    case("noleap", 1440, ("days since 2021-02-27", "int64"), ("hours since 2021-03-01", "int64"), "noleap")
    case("360-day", 1440, ("days since 2021-02-27", "int64"), ("hours since 2021-02-30", "int64"), "360_day")
    case("bounds", 360, (hours, "int64"), ("hours since 2021-01-02", "int64"), bounds=True)
    case("same-moment", 360, (hours, "int64"), ("hours since 2021-01-01 00:00:00", "int64"))
    case("calendar-name", 360, (hours, "int64"), (hours, "int64"))
    group = xr.open_zarr(f"{directory}/calendar-name/day.zarr", decode_times=False).load()
    group.time.attrs["calendar"] = "standard"
    group.to_zarr(f"{directory}/calendar-name/day.zarr", mode="w", zarr_format=3)
    # Those that have no exact counterpart.
    # An archive of whole days, and a day of four times.
    case("coarse", 1440, (days_, "int64"), ("hours since 2021-01-05", "int64"))
    write(f"{directory}/coarse/day.zarr", dataset(16, 4, 360), 3, time={"units": "hours since 2021-01-05", "dtype": "int64"})
    case("small-floats", 60, ("seconds since 1900-01-01", "float32"), ("hours since 2021-01-01", "int64"))
    case("months", 1440, ("days since 2021-02-01", "int64"), ("days since 2021-02-27", "int64"), "julian")
    group = xr.open_zarr(f"{directory}/months/day.zarr", decode_times=False).load()
    group.time.attrs["units"] = "months since 2021-02-27"
    group.to_zarr(f"{directory}/months/day.zarr", mode="w", zarr_format=3)
    case("calendars", 1440, ("days since 2021-02-27", "int64"), ("days since 2021-03-01", "int64"), "noleap")
    group = xr.open_zarr(f"{directory}/calendars/day.zarr", decode_times=False).load()
    group.time.attrs["calendar"] = "standard"
    group.to_zarr(f"{directory}/calendars/day.zarr", mode="w", zarr_format=3)
    case("small-integers", 1440, (hours, "int8"), ("hours since 2021-01-05", "int64"))


if __name__ == "__main__":
    answer = {"grids": grids, "times": times}[sys.argv[1]](sys.argv[2])
    json.dump(answer, sys.stdout)
