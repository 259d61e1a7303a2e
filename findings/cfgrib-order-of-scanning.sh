#!/usr/bin/env bash
# cfgrib and gribberish place the points of GRIB2 grids at other coordinates than the file does.
#
# Flag table 3.4 of GRIB2 says in which order the points of a grid are stored: along i or along j, each
# in one direction or the other, and adjacent rows in the same direction or in the opposite one. All
# combinations are valid. None of these gives an error or a warning:
# - west (points run from east to west): cfgrib sorts the longitudes and leaves the values as they are,
#   so that the field is mirrored. gribberish gives descending longitudes and is right.
# - columns (points adjacent along j): both take the values for rows, and the field is scrambled.
# - columns in turns (along j, the next column the other way): both, too; cfgrib undoes the turns as if
#   they were in rows.
# - rows in turns (the next row the other way; so are forecasts of NDFD of the USA's weather service):
#   gribberish leaves every other row mirrored. cfgrib is right since its pull request 296.
# GDAL reads all of them into rows from north to south, of points from west to east. The values below
# are in that order, whatever the order of the coordinates that a reader gives.
#
# What should be: the value of a point is at the point's coordinates. ecCodes' own iterator of latitudes,
# longitudes and values, which is below cfgrib, says the same as GDAL for west and columns. It leaves out
# the turns. cfgrib's README does not name scanning.
#
# Versions: cfgrib 0.9.15.1, eccodes 2.50.0, gribberish 1.9.0, rasterio 1.5.2 (GDAL 3.12.2),
#           xarray 2026.9.0, zarr 3.4.2, obstore 0.12.1; seen on 2026-12-01
# Source:   `get_values_in_order` in cfgrib/dataset.py of https://github.com/ecmwf/cfgrib (296 and 359
#           there are about rows in turns); https://github.com/mpiannucci/gribberish (issue 32 is about
#           flags of scanning, and closed); the table is code table 3.4 of WMO's manual on codes, FM 92
# Expected output:
#
#   north GDAL 9 10 11 12 5 6 7 8 1 2 3 4
#   north cfgrib 9 10 11 12 5 6 7 8 1 2 3 4
#   north gribberish 9 10 11 12 5 6 7 8 1 2 3 4
#   west GDAL 4 3 2 1 8 7 6 5 12 11 10 9
#   west cfgrib 1 2 3 4 5 6 7 8 9 10 11 12
#   west gribberish 4 3 2 1 8 7 6 5 12 11 10 9
#   columns GDAL 1 4 7 10 2 5 8 11 3 6 9 12
#   columns cfgrib 1 2 3 4 5 6 7 8 9 10 11 12
#   columns gribberish 1 2 3 4 5 6 7 8 9 10 11 12
#   rows in turns GDAL 1 2 3 4 8 7 6 5 9 10 11 12
#   rows in turns cfgrib 1 2 3 4 8 7 6 5 9 10 11 12
#   rows in turns gribberish 1 2 3 4 5 6 7 8 9 10 11 12
#   columns in turns GDAL 1 6 7 12 2 5 8 11 3 4 9 10
#   columns in turns cfgrib 1 2 3 4 8 7 6 5 9 10 11 12
#   columns in turns gribberish 1 2 3 4 5 6 7 8 9 10 11 12
set -euo pipefail
self=$(realpath "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 \
    "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
    "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && break
done
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    cfgrib==0.9.15.1 eccodes==2.50.0 'gribberish[xarray]==1.9.0' rasterio==1.5.2 xarray==2026.9.0 \
    zarr==3.4.2 obstore==0.12.1
cd "$folder"

seen=$(venv/bin/python -W ignore - <<'PROGRAM'
import eccodes
import numpy
import rasterio
import xarray

GRID = {
    "Ni": 4,
    "Nj": 3,
    "latitudeOfFirstGridPointInDegrees": 2,
    "latitudeOfLastGridPointInDegrees": 0,
    "longitudeOfFirstGridPointInDegrees": 10,
    "longitudeOfLastGridPointInDegrees": 13,
    "iDirectionIncrementInDegrees": 1,
    "jDirectionIncrementInDegrees": 1,
    # U component of wind: a parameter whose unit no reader converts
    "parameterCategory": 2,
    "parameterNumber": 2,
}
CASES = {
    "north": {
        "jScansPositively": 1,
        "latitudeOfFirstGridPointInDegrees": 0,
        "latitudeOfLastGridPointInDegrees": 2,
    },
    "west": {
        "iScansNegatively": 1,
        "longitudeOfFirstGridPointInDegrees": 13,
        "longitudeOfLastGridPointInDegrees": 10,
    },
    "columns": {"jPointsAreConsecutive": 1},
    "rows in turns": {"alternativeRowScanning": 1},
    "columns in turns": {"jPointsAreConsecutive": 1, "alternativeRowScanning": 1},
}


def write(path, keys):
    message = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib2")
    for key, value in {**GRID, **keys}.items():
        eccodes.codes_set(message, key, value)
    eccodes.codes_set_values(message, numpy.arange(1.0, 13.0))
    with open(path, "wb") as opened:
        eccodes.codes_write(message, opened)
    eccodes.codes_release(message)


def by_gdal(path):
    with rasterio.open(path) as opened:
        return opened.read(1)


def by_xarray(path, engine, **options):
    with xarray.open_dataset(path, engine=engine, **options) as data:
        (field,) = (each for each in data.data_vars.values() if each.size == 12)
        field = field.squeeze().transpose("latitude", "longitude")
        return field.sortby("latitude", ascending=False).sortby("longitude").values


for name, keys in CASES.items():
    path = name.replace(" ", "-") + ".grib2"
    write(path, keys)
    for reader, values in (
        ("GDAL", by_gdal(path)),
        ("cfgrib", by_xarray(path, "cfgrib", indexpath="")),
        ("gribberish", by_xarray(path, "gribberish", group="isobar/instant")),
    ):
        print(name, reader, *numpy.round(values).astype(int).ravel())
PROGRAM
)
expected=$(sed -n '/^# Expected output:/,/^set -euo/s/^#   //p' "$self")
printf '%s\n' "$seen"
if [ "$seen" != "$expected" ]; then
    printf 'CHANGED: where cfgrib and gribberish place the points of a grid. Expected:\n%s\n' "$expected" >&2
    exit 1
fi
