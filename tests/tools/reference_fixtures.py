"""Makes fixtures/references: small NetCDF4 files, and references to them by kerchunk and VirtualiZarr.

    python -m venv VENV
    VENV/bin/pip install kerchunk virtualizarr h5netcdf h5py netCDF4 xarray fastparquet pyarrow
    VENV/bin/python tests/tools/reference_fixtures.py

Every location in them is relative to `fixtures/references`, so that they can be read wherever the repository
is. kerchunk takes relative names; of what VirtualiZarr has made, whose names have to be absolute, the directory is
cut off afterwards. `SHA256.json` has what netCDF4 reads in the files themselves, joined along time.
"""

import hashlib
import importlib.metadata
import json
import pathlib
import shutil
import sys
import warnings

import fsspec
import netCDF4
import numpy as np
import pandas as pd
import xarray as xr
from fsspec.implementations.reference import LazyReferenceMapper
from kerchunk.combine import MultiZarrToZarr
from kerchunk.hdf import SingleHdf5ToZarr

HERE = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "references"
FILES = ["day1.nc", "day2.nc", "day3.nc"]
TIMES, LATITUDES, LONGITUDES = 4, 10, 15

# Name, type, and how HDF5 keeps it.
VARIABLES = [
    ("contiguous", "f4", {"contiguous": True}),
    ("swapped", ">i2", {"contiguous": True}),
    ("chunked", "i4", {"chunksizes": (2, 5, 15)}),
    ("deflated", "u2", {"chunksizes": (2, 5, 8), "zlib": True, "shuffle": False}),
    ("shuffled", "f8", {"chunksizes": (1, 10, 15), "zlib": True, "shuffle": True, "complevel": 4}),
    ("checked", "i4", {"chunksizes": (2, 10, 8), "zlib": True, "shuffle": True, "fletcher32": True}),
    ("summed", "f4", {"chunksizes": (4, 5, 15), "fletcher32": True}),
    ("packed", "i2", {"chunksizes": (2, 10, 15), "zlib": True, "shuffle": True, "fill_value": -32768}),
]


def write(path, day):
    """A file of one day. Its time is of a fixed length: contiguous variables need that."""
    random = np.random.default_rng(day)
    with netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        file.title = "a day of a grid"
        for name, length in [("time", TIMES), ("latitude", LATITUDES), ("longitude", LONGITUDES)]:
            file.createDimension(name, length)
        time = file.createVariable("time", "f8", ("time",))
        time.units, time.calendar = "hours since 2020-01-01", "standard"
        time[:] = day * 24 + 6 * np.arange(TIMES)
        latitude = file.createVariable("latitude", "f4", ("latitude",))
        latitude.units = "degrees_north"
        latitude[:] = np.linspace(-45, 45, LATITUDES)
        longitude = file.createVariable("longitude", "f4", ("longitude",))
        longitude.units = "degrees_east"
        longitude[:] = np.linspace(0, 336, LONGITUDES)
        for number, (name, kind, settings) in enumerate(VARIABLES):
            endian = "big" if kind.startswith(">") else "little"
            variable = file.createVariable(
                name, kind.lstrip(">"), ("time", "latitude", "longitude"), endian=endian, **settings
            )
            variable.set_auto_maskandscale(False)
            variable.long_name = f"what is {name}"
            shape = (TIMES, LATITUDES, LONGITUDES)
            values = np.cumsum(random.integers(-3, 4, shape), axis=-1) + 1000 + number
            if name == "packed":
                variable.scale_factor, variable.add_offset = 0.01, 273.15
                values[:, 2:4, 3] = -32768
            variable[:] = values.astype(kind)


def elements(name):
    """The elements of a variable as they are stored, little-endian, of all files."""
    parts = []
    for file in FILES:
        with netCDF4.Dataset(HERE / file) as dataset:
            variable = dataset[name]
            variable.set_auto_maskandscale(False)
            parts.append(np.asarray(variable[:]))
    joined = np.concatenate(parts) if "time" in dimensions(name) else parts[0]
    return joined.astype(joined.dtype.newbyteorder("<"))


def dimensions(name):
    with netCDF4.Dataset(HERE / FILES[0]) as dataset:
        return dataset[name].dimensions


def kerchunk_references(inline_threshold):
    singles = []
    for file in FILES:
        with fsspec.open(str(HERE / file)) as opened:
            singles.append(SingleHdf5ToZarr(opened, file, inline_threshold=inline_threshold).translate())
    return singles


def combined(singles, out=None):
    options = {"concat_dims": ["time"], "identical_dims": ["latitude", "longitude"], "inline_threshold": 100}
    return MultiZarrToZarr(singles, target_options={}, remote_protocol="file", remote_options={}, out=out, **options)


def by_kerchunk():
    single = kerchunk_references(100)
    write_json("day1.json", single[0])
    document = combined(kerchunk_references(100)).translate()
    write_json("kerchunk.json", document)
    # The form without a version, and values that are JSON in JSON.
    old = {key: json.loads(value) if "/.z" in f"/{key}" else value for key, value in document["refs"].items()}
    write_json("version0.json", old)
    # The same with the names of the files in templates.
    templates = {f"day{i}": file for i, file in enumerate(FILES)}
    names = {file: f"{{{{{key}}}}}" for key, file in templates.items()}
    refs = {
        key: [names[value[0]], *value[1:]] if isinstance(value, list) else value
        for key, value in document["refs"].items()
    }
    write_json("templates.json", {"version": 1, "templates": templates, "refs": refs})
    for engine in ["fastparquet", "pyarrow"]:
        # The mapper of fsspec is what writes both; it wants an array's metadata before its chunks.
        out = HERE / f"kerchunk_{engine}.parq"
        mapper = LazyReferenceMapper.create(str(out), record_size=10, engine=engine)
        for key, value in sorted(document["refs"].items(), key=lambda entry: "/.z" not in f"/{entry[0]}"):
            mapper[key] = value
        mapper.flush()


def by_virtualizarr():
    from obstore.store import LocalStore
    from obspec_utils.registry import ObjectStoreRegistry
    from virtualizarr import open_virtual_dataset
    from virtualizarr.parsers import HDFParser

    registry = ObjectStoreRegistry({"file://": LocalStore()})
    virtual = [
        open_virtual_dataset(f"file://{HERE / file}", registry=registry, parser=HDFParser(), loadable_variables=["time"], decode_times=False)
        for file in FILES
    ]
    joined = xr.concat(virtual, "time", coords="minimal", compat="override", data_vars="minimal")
    out = HERE / "virtualizarr.json"
    joined.vz.to_kerchunk(str(out), format="json")
    out.write_text(out.read_text().replace(f"file://{HERE}/", "").replace(f"{HERE}/", "").replace(f"{HERE}/".replace("/", "\\/"), ""))
    out = HERE / "virtualizarr.parq"
    joined.vz.to_kerchunk(str(out), format="parquet", record_size=4)
    for path in sorted(out.rglob("*.parq")):
        table = pd.read_parquet(path, engine="fastparquet")
        plain = table["path"].astype("object")
        table["path"] = plain.map(lambda url: url.replace(f"file://{HERE}/", "").replace(f"{HERE}/", ""), na_action="ignore")
        table.to_parquet(
            path, engine="fastparquet", compression="zstd", index=False, stats=False,
            object_encoding={"raw": "bytes", "path": "utf8"}, has_nulls=["path", "raw"],
        )


def write_json(name, document):
    (HERE / name).write_text(json.dumps(document, indent=0, separators=(",", ":")).replace("\n", "") + "\n")


def main():
    warnings.simplefilter("ignore")
    for path in HERE.glob("*"):
        if path.suffix in {".nc", ".json", ".parq"}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for day, file in enumerate(FILES):
        write(HERE / file, day)
    by_kerchunk()
    by_virtualizarr()
    names = [name for name, _, _ in VARIABLES] + ["time", "latitude", "longitude"]
    digests = {name: hashlib.sha256(elements(name).tobytes()).hexdigest() for name in names}
    (HERE / "SHA256.json").write_text(json.dumps(digests, indent=1, sort_keys=True) + "\n")
    packages = ["kerchunk", "virtualizarr", "fsspec", "xarray", "netCDF4", "h5py", "fastparquet", "pyarrow", "zarr", "numcodecs"]
    print(sys.version.split()[0], {name: importlib.metadata.version(name) for name in packages})


if __name__ == "__main__":
    main()
