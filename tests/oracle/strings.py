"""Writes and reads arrays whose elements differ in length, with the zarr-python of this environment (2 or 3).

make DIRECTORY: writes arrays; stdout: JSON list of {"path", "version", "elements"}
read:           stdin: JSON list of {"path", "version"}; stdout: JSON list of their elements, in the same order
table PATH VERSION: writes a group as anndata lays it out; stdout: null
frame A B:      stdout: whether xarray and zarr-python read two groups as equal, as JSON

`elements` are the elements in C order, as text: strings as they are, bytes and numbers as Python shows them.
"""

import json
import os
import sys

import numcodecs
import numpy as np
import zarr

IS_ZARR_2 = zarr.__version__.startswith("2.")
SHAPE = (11, 7)


def shown(value):
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    return value if isinstance(value, str) else repr(value)


def elements(values):
    return [shown(value) for value in np.asarray(values).ravel().tolist()]


def words():
    made = ["é€𝄞"[i % 3] * (i % 5) + "x\n\0"[: i % 4] + str(i) * (i % 2) for i in range(SHAPE[0] * SHAPE[1])]
    return np.array(made, dtype=object).reshape(SHAPE)


def filled(kind):
    values = words()
    if kind == "text":
        return values
    made = np.empty(SHAPE, dtype=object)
    for number, (position, word) in enumerate(np.ndenumerate(values)):
        made[position] = word.encode() if kind == "bytes" else np.arange(number % 6, dtype="<i4")
    return made


def make_v2_by_2(directory):
    kinds = {"text": numcodecs.VLenUTF8(), "bytes": numcodecs.VLenBytes(), "items": numcodecs.VLenArray("<i4")}
    codecs = {
        "none": None, "zstd": numcodecs.Zstd(level=1), "blosc": numcodecs.Blosc(), "zlib": numcodecs.Zlib(),
        "gzip": numcodecs.GZip(), "lz4": numcodecs.LZ4(), "bz2": numcodecs.BZ2(), "lzma": numcodecs.LZMA(),
    }
    for kind, codec in kinds.items():
        for name, compressor in codecs.items():
            for order in "CF" if name == "zstd" else "C":
                path = os.path.join(directory, f"z2-{kind}-{name}-{order}.zarr")
                array = zarr.create(
                    store=path, shape=SHAPE, chunks=(3, 4), dtype=object, object_codec=codec, compressor=compressor,
                    order=order, overwrite=True,
                )
                array[...] = filled(kind)
                yield {"path": path, "version": 2, "elements": elements(filled(kind))}


def make_by_3(directory):
    from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
    from zarr.dtype import VariableLengthBytes, VariableLengthUTF8

    types = {"text": VariableLengthUTF8(), "bytes": VariableLengthBytes()}
    codecs = {"none": None, "zstd": ZstdCodec(), "gzip": GzipCodec(), "blosc": BloscCodec(cname="zstd")}
    for kind, data_type in types.items():
        for name, codec in codecs.items():
            for shards in [None, (6, 8)]:
                path = os.path.join(directory, f"z3-{kind}-{name}-{shards is not None}.zarr")
                array = zarr.create_array(
                    path, shape=SHAPE, chunks=(3, 4), shards=shards, dtype=data_type, overwrite=True,
                    compressors=[codec] if codec else None, fill_value="no" if kind == "text" else b"no",
                )
                expected = filled(kind)
                expected[6:9, :4] = "no" if kind == "text" else b"no"
                array[:6] = expected[:6]
                array[6:9, 4:] = expected[6:9, 4:]
                array[9:] = expected[9:]
                yield {"path": path, "version": 3, "elements": elements(expected)}


def read(job):
    try:
        if IS_ZARR_2:
            return elements(zarr.open_array(job["path"], mode="r")[...])
        return elements(zarr.open_array(job["path"], mode="r", zarr_format=job["version"])[...])
    except Exception as error:  # what is told is what a user would see
        return f"{type(error).__name__}: {error}"


def write_table(path, version):
    """A group of a table with text, as anndata 0.13 writes it: a frame, categories, a nullable column."""
    rows, genes = 1000, 37
    root = zarr.open_group(path, mode="w", zarr_format=version)
    root.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})

    def put(group, name, values, **attributes):
        values = np.asarray(values)
        options = {"shards": values.shape} if version == 3 and values.size > 100 else {}
        if values.dtype.kind in "OU":
            values = values.astype(object)
            options["dtype"] = str
        else:
            options["dtype"] = values.dtype
        array = group.create_array(name, shape=values.shape, chunks=tuple(min(n, 100) for n in values.shape), **options)
        array[...] = values
        array.attrs.update(attributes)

    def frame(name, length, columns):
        group = root.create_group(name)
        order = list(columns)
        group.attrs.update({
            "encoding-type": "dataframe", "encoding-version": "0.2.0", "_index": "_index", "column-order": order,
        })
        put(group, "_index", [f"{name}-{i}" for i in range(length)], **{
            "encoding-type": "string-array", "encoding-version": "0.2.0",
        })
        for column, (kind, values) in columns.items():
            if kind == "array":
                put(group, column, values)
            elif kind == "categorical":
                own = group.create_group(column)
                own.attrs.update({"encoding-type": "categorical", "encoding-version": "0.2.0", "ordered": False})
                names, codes = np.unique(np.array(values), return_inverse=True)
                put(own, "categories", names)
                put(own, "codes", codes.astype("i1"))
            else:
                own = group.create_group(column)
                own.attrs.update({"encoding-type": "nullable-string-array", "encoding-version": "0.1.0"})
                put(own, "values", [value or "" for value in values])
                put(own, "mask", [value is None for value in values])

    frame("obs", rows, {
        "n": ("array", np.arange(rows)),
        "kind": ("categorical", [f"type {i % 7}" for i in range(rows)]),
        "note": ("nullable", [None if i % 3 == 0 else "é" * (i % 40) for i in range(rows)]),
    })
    frame("var", genes, {"name": ("array", [f"ENSG{i:011d}" for i in range(genes)])})
    put(root, "X", np.arange(rows * genes, dtype="f4").reshape(rows, genes))


def members(group):
    found = {}
    for name, item in group.members(max_depth=None):
        if isinstance(item, zarr.Array):
            found[name] = (item.shape, elements(item[...]), dict(item.attrs))
        else:
            found[name] = dict(item.attrs)
    return found


def same(a, b):
    import xarray

    of = [zarr.open_group(path, mode="r") for path in (a, b)]
    is_same = members(of[0]) == members(of[1]) and len(members(of[0])) > 10
    for name in ["obs/_index", "obs/note/values", "var/name"]:
        variables = [xarray.Variable(("x",), group[name][...]) for group in of]
        is_same = is_same and variables[0].identical(variables[1])
    return is_same


if __name__ == "__main__":
    if sys.argv[1] == "make":
        made = make_v2_by_2(sys.argv[2]) if IS_ZARR_2 else make_by_3(sys.argv[2])
        json.dump(list(made), sys.stdout)
    elif sys.argv[1] == "read":
        json.dump([read(job) for job in json.load(sys.stdin)], sys.stdout)
    elif sys.argv[1] == "table":
        write_table(sys.argv[2], int(sys.argv[3]))
        json.dump(None, sys.stdout)
    else:
        json.dump(bool(same(sys.argv[2], sys.argv[3])), sys.stdout)
