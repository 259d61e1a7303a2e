"""Writes arrays with zarr-python: sources for the interoperability tests.

    python make.py DIRECTORY

stdout: JSON list of {"path", "format", "name"}. What the arrays hold is told by read.py, not here: a reader, not
this writer, has the last word. Types, codecs, orders and separators are combined so that every pair of type and
codec occurs; the rest alternates. The same numbers come out every time.
"""

import itertools
import json
import os
import sys

import numcodecs
import numpy as np
import zarr

# Types beyond plain numbers, which are cut into other chunks as well. Big-endian where there is an order.
NEW_DTYPES = [
    "<c8", ">c8", "<c16", ">c16", "<M8[ns]", ">M8[10us]", "<M8[D]", "<m8[s]", ">m8[25W]", "|S1", "|S5", "|S300", "<U1", ">U5",
    "<U70", "|V1", "|V3", "|V20",
]
RECORDS = [
    [("a", "<i4"), ("b", "<f8")],
    [("name", "S3"), ("at", "<M8[s]"), ("z", "<c8"), ("flag", "?"), ("word", "<U2")],
]
DTYPES = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
IS_ZARR_2 = zarr.__version__.startswith("2.")
RANDOM = np.random.default_rng(20261121)


def values(shape, dtype):
    """Numbers that compress, with a few that are special; never only one value."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.kind == "b":
        numbers = RANDOM.random(count) < 0.3
    elif dtype.kind == "f":
        numbers = np.cumsum(RANDOM.normal(size=count)).astype(dtype)
        numbers[::17] = np.nan
        numbers[::23] = np.inf
        numbers[::29] = -0.0
    elif dtype.kind in "cmMSUV":
        return odd_values(count, dtype).reshape(shape)
    else:
        bounds = np.iinfo(dtype)
        numbers = RANDOM.integers(bounds.min, bounds.max, count, dtype=dtype.newbyteorder("="), endpoint=True)
        numbers[: count // 2] //= 16
    return numbers.reshape(shape).astype(dtype)


def odd_values(count, dtype):
    """Elements of types that are not plain numbers."""
    if dtype.kind == "S":
        words = [bytes(RANDOM.integers(1, 255, number % (dtype.itemsize + 1), dtype="u1")) for number in range(count)]
        return np.array(words, dtype)
    if dtype.kind == "U":
        letters = np.array(list("aé€𝄞\n\"z"))
        length = dtype.itemsize // 4
        return np.array(["".join(RANDOM.choice(letters, number % (length + 1))) for number in range(count)], dtype)
    if dtype.kind == "V":
        return np.frombuffer(RANDOM.bytes(count * dtype.itemsize), "u1").reshape(count, -1).copy().view(dtype)[:, 0]
    if dtype.kind == "c":
        part = "f4" if dtype.itemsize == 8 else "f8"
        numbers = values((count, 2), part)
        return np.ascontiguousarray(numbers).view(dtype.newbyteorder("="))[:, 0].astype(dtype)
    numbers = RANDOM.integers(-(2**40), 2**40, count)
    numbers[::17] = np.iinfo("i8").min  # NaT
    return numbers.astype("i8").view(dtype.newbyteorder("=")).astype(dtype)


def record_values(shape, fields):
    """Records, field by field; text has to be text."""
    dtype = np.dtype(fields)
    records = np.zeros(shape, dtype)
    for name in dtype.names:
        records[name] = values(shape, dtype[name])
    return records


def v2_codecs():
    blosc = [
        numcodecs.Blosc(cname=cname, clevel=5, shuffle=shuffle)
        for cname, shuffle in [("lz4", 1), ("lz4hc", 2), ("blosclz", 0), ("zlib", 1), ("zstd", -1)]
    ]
    return [
        None, *blosc, numcodecs.Zstd(level=3), numcodecs.Zstd(level=1, checksum=True), numcodecs.GZip(level=5),
        numcodecs.Zlib(level=1),
    ]


def v3_codecs():
    from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec

    blosc = [
        BloscCodec(cname=cname, clevel=5, shuffle=shuffle)
        for cname, shuffle in [("lz4", "shuffle"), ("zstd", "bitshuffle"), ("blosclz", "noshuffle")]
    ]
    return [
        [], *[[codec] for codec in blosc], [ZstdCodec(level=3)], [ZstdCodec(level=3, checksum=True)],
        [GzipCodec(level=5)], [Crc32cCodec()], [ZstdCodec(level=1), Crc32cCodec()],
    ]


def filter_chains():
    """What only numcodecs has: (type, filters, compressor), as (id, settings) pairs."""
    def scaled(dtype, astype):
        return ("fixedscaleoffset", {"offset": 100, "scale": 10, "dtype": dtype, "astype": astype})

    def delta(dtype, astype=None):
        return ("delta", {"dtype": dtype, "astype": astype or dtype})

    shuffle, zlib = ("shuffle", {"elementsize": 4}), ("zlib", {"level": 1})
    for dtype in ["i1", "<u2", ">i4", "<f4", ">f8", "bool"]:
        yield dtype, [], ("lz4", {"acceleration": 3})
        yield dtype, [], ("bz2", {"level": 9})
        yield dtype, [], zlib
        yield dtype, [], ("lzma", {})
        yield dtype, [], ("lzma", {"format": 2, "preset": 1})
        yield dtype, [], ("lzma", {"check": 10, "preset": 9})
        raw = [{"id": 3, "dist": 4}, {"id": 0x21, "preset": 2, "lc": 2}]
        yield dtype, [], ("lzma", {"format": 3, "filters": raw})
        for checksum in ["crc32", "adler32", "fletcher32"]:
            yield dtype, [], (checksum, {})
    yield "<i4", [], ("crc32", {"location": "end"})
    yield "<i4", [], ("adler32", {"location": "end"})
    for dtype in ["i1", "<u2", "<i4", ">i8", "<f4"]:
        yield dtype, [delta(dtype)], zlib
    yield "<i2", [delta("<i2", "<i4"), shuffle], ("bz2", {"level": 1})
    yield "<u2", [delta("<u2", "<i8")], ("blosc", {"cname": "lz4", "shuffle": 1})
    yield "<f4", [scaled("<f4", "<i2")], zlib
    yield "<f8", [scaled("<f8", "<f4")], zlib
    yield ">f8", [scaled(">f8", ">i2"), delta(">i2")], ("zstd", {"level": 1})
    yield "<f4", [scaled("<f4", "u1"), ("crc32", {})], None
    yield "<i4", [scaled("<i4", "<i4")], zlib
    yield "<f4", [("quantize", {"digits": 2, "dtype": "<f4"})], zlib
    yield "<f8", [("quantize", {"digits": 1, "dtype": "<f8", "astype": "<f2"})], zlib
    yield "<f4", [("bitround", {"keepbits": 7})], ("blosc", {"cname": "zstd", "shuffle": 2})
    yield "<f8", [("bitround", {"keepbits": 20})], None
    pairs = [("<i4", "<i2"), ("<f4", "<i2"), ("<f8", "<f4"), ("<f4", "<f2"), (">i8", ">u1"), ("<f4", "u1")]
    for dtype, stored in pairs:
        yield dtype, [("astype", {"encode_dtype": stored, "decode_dtype": dtype})], ("lz4", {})
    yield "<i4", [shuffle], None
    yield ">f8", [("shuffle", {"elementsize": 8})], zlib
    yield "bool", [("packbits", {})], zlib
    yield "bool", [("packbits", {})], None


class Store:
    """A directory of arrays, and the list of what was written."""

    def __init__(self, directory):
        self.directory = directory
        self.written = []

    def add(self, name, zarr_format, data, **options):
        path = os.path.join(self.directory, name)
        written = options.pop("written", Ellipsis)
        dimensions = options.pop("dimensions", None)
        attributes = {"units": "K", "made by": f"zarr-python {zarr.__version__}", "n": [1, 2.5, None, {"é": True}]}
        if zarr_format == 2:
            array = self._create_v2(path, data, options)
            if dimensions:
                attributes["_ARRAY_DIMENSIONS"] = dimensions
        else:
            array = self._create_v3(path, data, dimensions, options)
        array.attrs.update(attributes)
        if written is not None:
            array[written] = data[written]
        self.written.append({"path": path, "format": zarr_format, "name": name})

    def add_strings(self, name, zarr_format, words, codec):
        path = os.path.join(self.directory, name)
        if IS_ZARR_2:
            array = zarr.create(store=path, shape=words.shape, chunks=(2, 2), dtype=str, compressor=codec, fill_value="")
        else:
            codecs = codec if zarr_format == 3 else ([codec] if codec else None)
            array = zarr.create_array(
                path, zarr_format=zarr_format, shape=words.shape, chunks=(2, 2), dtype=str, compressors=codecs, fill_value="",
            )
        array[:, :2] = words[:, :2]
        self.written.append({"path": path, "format": zarr_format, "name": name})

    @staticmethod
    def _create_v2(path, data, options):
        order, separator = options.pop("order", "C"), options.pop("separator", ".")
        codec, filters = options.pop("codec", None), options.pop("filters", None)
        common = {"store": path, "shape": data.shape, "dtype": data.dtype, "order": order, **options}
        if IS_ZARR_2:
            return zarr.create(compressor=codec, filters=filters, dimension_separator=separator, **common)
        key = {"name": "v2", "separator": separator}
        return zarr.create_array(
            zarr_format=2, compressors=[codec] if codec else None, filters=filters, chunk_key_encoding=key, **common
        )

    @staticmethod
    def _create_v3(path, data, dimensions, options):
        from zarr.codecs import BytesCodec, TransposeCodec

        dtype = np.dtype(data.dtype)
        endian = "big" if dtype.byteorder == ">" else "little"
        order = options.pop("order", "C")
        axes = tuple(reversed(range(data.ndim)))
        filters = [TransposeCodec(order=axes)] if order == "F" and data.ndim > 1 else []
        filters += options.pop("filters", [])
        key = {"name": options.pop("keys", "default"), "separator": options.pop("separator", "/")}
        return zarr.create_array(
            path, zarr_format=3, shape=data.shape, dtype=dtype.newbyteorder("="), filters=filters,
            serializer=BytesCodec(endian=endian if dtype.itemsize > 1 and dtype.kind not in "SV" else None),
            compressors=options.pop("codec", []), chunk_key_encoding=key, dimension_names=dimensions, **options,
        )


def types_and_codecs(store, zarr_format):
    """Every type with every codec; order, separator and byte order alternate."""
    codecs = v2_codecs() if zarr_format == 2 else v3_codecs()
    orders = itertools.cycle(["C", "F", "C", "F", "F"])
    separators = itertools.cycle([".", "/", "/"])
    ends = itertools.cycle("<><<>")
    for dtype, (number, codec) in itertools.product(DTYPES, enumerate(codecs)):
        full = np.dtype(dtype) if dtype in ("bool", "i1", "u1") else np.dtype(next(ends) + dtype)
        store.add(
            f"v{zarr_format}-{full.str[1:]}-codec{number}", zarr_format, values((11, 7, 5), full), chunks=(4, 3, 5),
            codec=codec, order=next(orders), separator=next(separators), fill_value=0,
            dimensions=["time", "y", "x"],
        )


def filters(store, zarr_format):
    """Filters, and compressors that only numcodecs has. What they lose is lost in the source."""
    orders = itertools.cycle("CF")
    for number, (dtype, chain, compressor) in enumerate(filter_chains()):
        dtype = np.dtype(dtype)
        data = values((11, 7, 5), dtype)
        if dtype.kind == "f":
            data = np.nan_to_num(data).clip(-300, 300).astype(dtype)
        if any(name in ("fixedscaleoffset", "astype") for name, _ in chain):
            data = (100 + np.arange(data.size).reshape(data.shape) % 20).astype(dtype)
        names = "-".join(name for name, _ in [*chain, *([compressor] if compressor else [])])
        options = {"chunks": (4, 3, 5), "fill_value": 0, "order": next(orders)}
        if zarr_format == 2:
            options["filters"] = [numcodecs.get_codec({"id": name, **settings}) for name, settings in chain] or None
            options["codec"] = compressor and numcodecs.get_codec({"id": compressor[0], **compressor[1]})
        else:
            if any("astype" in settings for name, settings in chain if name == "quantize"):
                continue  # zarr-python 3 does not read what it has written
            options["filters"], options["codec"] = v3_chain([*chain, *([compressor] if compressor else [])])
            if options["filters"]:
                # Of other orders zarr-python 3 reads other elements than it has written.
                options["order"] = "C"
                data = data.astype(dtype.newbyteorder("<"))
        store.add(f"v{zarr_format}-filters{number}-{dtype.str[1:]}-{names}", zarr_format, data, **options)


def v3_chain(chain):
    """The same codecs as v3 spells them, those on elements and those on bytes."""
    import zarr.codecs.numcodecs as v3

    classes = {
        "delta": v3.Delta, "fixedscaleoffset": v3.FixedScaleOffset, "quantize": v3.Quantize, "bitround": v3.BitRound,
        "astype": v3.AsType, "packbits": v3.PackBits, "lz4": v3.LZ4, "bz2": v3.BZ2, "zlib": v3.Zlib, "lzma": v3.LZMA,
        "blosc": v3.Blosc, "zstd": v3.Zstd, "shuffle": v3.Shuffle, "crc32": v3.CRC32, "adler32": v3.Adler32,
        "fletcher32": v3.Fletcher32,
    }
    on_elements = ["delta", "fixedscaleoffset", "quantize", "bitround", "astype", "packbits"]

    def little(settings):
        return {name: value.replace(">", "<") if isinstance(value, str) else value for name, value in settings.items()}

    made = [(name, classes[name](**little(settings))) for name, settings in chain]
    elements = [codec for name, codec in made if name in on_elements]
    return elements, [codec for name, codec in made if name not in on_elements]


def odd_ones(store, zarr_format):
    """Shapes, fill values and gaps at the edge of what is allowed."""
    codec = numcodecs.Zstd(level=1) if zarr_format == 2 else v3_codecs()[4]

    def add(name, data, **options):
        store.add(f"v{zarr_format}-{name}", zarr_format, data, codec=codec, **options)

    missing = (slice(3, 9), slice(0, 4))
    for name, fill in [("nan", np.nan), ("inf", np.inf), ("minus-inf", -np.inf), ("one", 1.5), ("minus-zero", -0.0)]:
        add(f"fill-{name}", values((10, 9), "<f4"), chunks=(3, 4), fill_value=fill, written=missing)
    add("fill-f2-nan", values((10, 9), "<f2"), chunks=(3, 4), fill_value=np.nan, written=missing)
    add("fill-max", values((10, 9), "<u8"), chunks=(3, 4), fill_value=2**64 - 1, written=missing)
    add("fill-min", values((10, 9), "<i8"), chunks=(3, 4), fill_value=-(2**63), written=missing)
    add("fill-true", values((10, 9), "bool"), chunks=(3, 4), fill_value=True, written=missing)
    add("all-missing", values((10, 9), "<i4"), chunks=(3, 4), fill_value=-7, written=None)
    add("zero-rank", values((), "<f8"), chunks=(), fill_value=3.0)
    add("zero-size", values((4, 0, 3), "<i2"), chunks=(2, 1, 3), fill_value=0, written=None)
    add("chunk-larger-than-axis", values((5, 3), "<i2"), chunks=(8, 7), fill_value=0)
    add("one-element-chunks", values((4, 3), "<i2"), chunks=(1, 1), fill_value=0)
    add("long", values((1003,), "<f8"), chunks=(100,), fill_value=0)
    add("rank-6", values((2, 3, 2, 4, 3, 2), "<u2"), chunks=(1, 2, 2, 3, 2, 1), fill_value=0)
    add("wide-edge", values((17, 13), ">i4"), chunks=(16, 12), fill_value=9)
    if zarr_format == 2:
        add("fill-null", values((10, 9), "<f4"), chunks=(3, 4), fill_value=None)
    else:
        add("keys-v2-dot", values((10, 9), "<f4"), chunks=(3, 4), fill_value=0, keys="v2", separator=".")
        add("keys-v2-slash", values((10, 9), "<f4"), chunks=(3, 4), fill_value=0, keys="v2", separator="/")
        add("some-names", values((10, 9), "<f4"), chunks=(3, 4), fill_value=0, dimensions=["y", None])


def fill_of(dtype):
    """A fill value of every type that is not its zero."""
    if dtype.kind == "V":
        return bytes(range(1, dtype.itemsize + 1))
    plain = {"c": complex(np.nan, -np.inf), "M": np.datetime64("NaT"), "m": 7, "S": b"\xfe", "U": "é"}
    return plain[dtype.kind]


def new_types(store, zarr_format):
    """Every type that is no plain number, with gaps; codecs and orders alternate."""
    codecs = itertools.cycle(v2_codecs() if zarr_format == 2 else v3_codecs())
    orders = itertools.cycle(["C", "F", "C"])
    missing = (slice(3, 9), slice(0, 4))
    for text in NEW_DTYPES:
        dtype = np.dtype(text)
        for name, fill in [("zero", None), ("fill", fill_of(dtype))]:
            if fill is None:
                fill = np.zeros((), dtype)[()] if dtype.kind != "V" else bytes(dtype.itemsize)
            if dtype.kind == "M" and not isinstance(fill, np.datetime64):
                fill = np.datetime64(0, "s")
            codec, order = next(codecs), next(orders)
            if zarr_format == 2 and dtype.kind in "mM":
                codec = None  # numcodecs takes no buffers of dates
            store.add(
                f"v{zarr_format}-new-{text.replace('|', '')}-{name}", zarr_format, values((10, 9), text), chunks=(3, 4),
                codec=codec, order=order, fill_value=fill, written=missing,
            )
    for number, fields in enumerate(RECORDS):
        data = record_values((10, 9), fields)
        fill = np.frombuffer(data[4, 4].tobytes(), data.dtype)[0]
        store.add(
            f"v{zarr_format}-record-{number}", zarr_format, data, chunks=(3, 4), fill_value=fill, written=missing,
            codec=v3_codecs()[4] if zarr_format == 3 else None,  # numcodecs takes no buffers of dates
        )
    if zarr_format == 2:
        for text in ["<c8", "|S5", "<U5", "|V3"]:
            store.add(
                f"v2-null-{text.strip('|')}", 2, values((10, 9), text), chunks=(3, 4), codec=None, fill_value=None,
                written=missing,
            )


def variable_length(store, zarr_format):
    """Strings, whose chunks are only copied."""
    words = np.array([["", "a", "é€"], ["𝄞" * 9, "x\ny", "\0"], ["end", "of", "it"]], dtype=object)
    for number, codec in enumerate([None, numcodecs.Zstd(level=1)] if zarr_format == 2 else [[], v3_codecs()[4]]):
        store.add_strings(f"v{zarr_format}-strings-{number}", zarr_format, words, codec)


def of_tensorstore(store):
    """Types that zarr-python does not have."""
    import ml_dtypes
    import tensorstore

    kinds = ["bfloat16", "int4", "int2", "float8_e5m2", "float8_e4m3fn"]
    for zarr_format, kind in itertools.product([2, 3], kinds):
        path = os.path.join(store.directory, f"ts-v{zarr_format}-{kind}")
        options = {"dtype": kind, "shape": [10, 9], "fill_value": 0.5 if "float" in kind and "e4m3" in kind else None}
        options = {name: value for name, value in options.items() if value is not None}
        driver = "zarr" if zarr_format == 2 else "zarr3"
        array = tensorstore.open(
            {"driver": driver, "kvstore": {"driver": "file", "path": path}}, create=True,
            chunk_layout=tensorstore.ChunkLayout(chunk_shape=[3, 4]), **options,
        ).result()
        bits = RANDOM.integers(0, 4, (10, 9), dtype="u1")
        numbers = bits.astype("i1").astype(getattr(ml_dtypes, kind)) if kind != "int2" else (bits % 2).astype(ml_dtypes.int2)
        array[3:9, 0:4].write(numbers[3:9, 0:4]).result()
        store.written.append({"path": path, "format": zarr_format, "name": kind})


def shards(store):
    """Sharded arrays: index at either end, sparse, inside each other, after a transposition, before a compressor."""
    from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

    plain, checked = [BytesCodec()], [BytesCodec(), Crc32cCodec()]

    def sharded(chunks, codecs, index=checked, location="end"):
        return ShardingCodec(chunk_shape=chunks, codecs=codecs, index_codecs=index, index_location=location)

    zstd = [BytesCodec(), ZstdCodec(level=1)]
    inner = sharded((2, 3), zstd)
    turned = sharded((2, 3), [TransposeCodec(order=(1, 0)), BytesCodec(endian="big")], plain, "start")
    cases = {
        "end": {"serializer": sharded((4, 6), zstd)},
        "start": {"serializer": sharded((4, 6), zstd, location="start")},
        "unchecked": {"serializer": sharded((4, 6), zstd, plain)},
        "big": {"serializer": sharded((4, 6), [BytesCodec(endian="big")], [BytesCodec(endian="big"), Crc32cCodec()])},
        "nested": {"serializer": sharded((8, 6), [inner])},
        "nested-twice": {"serializer": sharded((8, 12), [sharded((4, 6), [inner])])},
        "nested-turned": {"serializer": sharded((8, 6), [turned])},
        "turned": {"serializer": sharded((8, 4), [BytesCodec(), GzipCodec()]), "filters": [TransposeCodec(order=(1, 0))]},
        "compressed": {"serializer": sharded((4, 4), plain), "compressors": [ZstdCodec(level=3)]},
    }
    for (name, codecs), dtype in zip(cases.items(), itertools.cycle(["<i4", "<f8", "u1", "<u2", "bool"])):
        for kind, written in [("full", Ellipsis), ("sparse", (slice(0, 9), slice(3, 5))), ("empty", None)]:
            path = os.path.join(store.directory, f"v3-shards-{name}-{kind}")
            data = values((37, 50), dtype)
            array = zarr.create_array(
                path, zarr_format=3, shape=data.shape, chunks=(16, 24), dtype=data.dtype, fill_value=1,
                **{"compressors": [], "filters": [], **codecs},
            )
            if written is not None:
                array[written] = data[written]
            store.written.append({"path": path, "format": 3, "name": os.path.basename(path)})


if __name__ == "__main__":
    out = Store(sys.argv[1])
    for version in [2] if IS_ZARR_2 else [2, 3]:
        types_and_codecs(out, version)
        odd_ones(out, version)
        new_types(out, version)
        variable_length(out, version)
        filters(out, version)
    if not IS_ZARR_2:
        of_tensorstore(out)
        shards(out)
    json.dump(out.written, sys.stdout)
