"""netCDF-C's NCZarr, through netCDF4."""

import netCDF4
from common import digest, main, numbers

# Name, mode netCDF-C writes in, type, chunks, deflate level or none, what is told to the copy.
DATASETS = [
    ("plain", "nczarr", "f4", (7, 10), None, ["--chunks", "y=20,x=9"]),
    ("deflate", "nczarr", "i2", (7, 10), 4, ["--chunks", "y=10,x=30"]),
    ("pure-zarr", "zarr", "f8", (7, 10), None, ["--chunks", "y=5,x=5"]),
    ("pure-deflate", "zarr", "u1", (20, 30), 1, ["--chunks", "y=5,x=30"]),
    ("xarray", "xarray", "i4", (7, 10), 1, ["--chunks", "y=20,x=30"]),
    ("whole", "nczarr", "i8", (20, 30), None, ["--chunks", "y=6,x=6"]),
]


def write(directory):
    """Writes every data set: an array, and a coordinate that is copied beside it."""
    cases = []
    for name, mode, dtype, chunks, level, options in DATASETS:
        elements, columns = numbers((20, 30), dtype), numbers((30,), "f8")
        place = f"file://{directory}/{name}.zarr#mode={mode},file"
        with netCDF4.Dataset(place, "w") as dataset:
            dataset.createDimension("y", 20)
            dataset.createDimension("x", 30)
            told = {"chunksizes": chunks}
            if level is not None:
                told |= {"compression": "zlib", "complevel": level}
            variable = dataset.createVariable("t", dtype, ("y", "x"), **told)
            variable[:] = elements
            variable.units = "K"
            dataset.createVariable("x", "f8", ("x",))[:] = columns
        source, options = f"{name}.zarr", [*options, "--format", "zarr2"]
        cases.append(
            {"name": name, "source": source, "options": options, "digest": digest(elements, columns)}
        )
    return cases


def read(name, path):
    """Reads a data set."""
    mode = next(row[1] for row in DATASETS if row[0] == name)
    with netCDF4.Dataset(f"file://{path}#mode={mode},file") as dataset:
        dataset.set_auto_mask(False)
        return digest(dataset["t"][...], dataset["x"][...])


main(f"netCDF-C {netCDF4.__netcdf4libversion__.split()[0]} (netCDF4 {netCDF4.__version__})", write, read)
