"""NCZarr as netCDF-C writes and reads it: `make PATH FIRST DAYS`, `read PATH`; answers in JSON."""

import json
import sys

import netCDF4
import numpy


def location(path):
    return f"file://{path}#mode=nczarr,file"


def make(path, first, days):
    with netCDF4.Dataset(location(path), "w") as file:
        file.createDimension("time", None)
        file.createDimension("lat", 4)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        tas = file.createVariable("tas", "f4", ("time", "lat"), chunksizes=(1, 4))
        time[:] = numpy.arange(first, first + days)
        tas[:] = numpy.arange(days * 4).reshape(days, 4) + first + 1


def read(path):
    with netCDF4.Dataset(location(path)) as file:
        return {name: file[name][:].tolist() for name in ("time", "tas")}


command, *arguments = sys.argv[1:]
if command == "make":
    make(arguments[0], int(arguments[1]), int(arguments[2]))
    answer = True
else:
    answer = read(arguments[0])
print(json.dumps(answer))
