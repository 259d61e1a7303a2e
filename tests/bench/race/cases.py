"""Case definitions of the rechunk benchmark.

A case says what the source array is, what the target array must be, and how
much memory the tool under test may use.Everything else (generator, floors,
verification, peers) is driven by this table.

`C`-order axes everywhere.  For N5 the *numpy/zarr* axis order is given here;
on disk N5 lists dimensions fastest-first, so `dimensions` in attributes.json
is reversed (the usual N5 -> Zarr migration convention).
"""
from __future__ import annotations
import math

import shapes

MiB = 1 << 20
GiB = 1 << 30

LZ4 = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}
ZSTD = {"id": "zstd", "level": 3}
ZSTD1 = {"id": "zstd", "level": 1}
GZIP = {"id": "gzip", "level": 6}

# name -> dict(full=..., small=...) ; "small" is a smoke test of the same shape family
CASES = {
    # A. satellite time series, full shuffle (every target chunk touches every source chunk)
    "A": dict(
        title="SST int16 time series, full shuffle, zarr v2 blosc-lz4",
        kind="sst", dtype="int16", fill=-32768,
        full=dict(shape=(1460, 720, 1440), src=(1, 720, 1440), dst=(1460, 30, 30), mem=1000_000_000),
        medium=dict(shape=(487, 720, 1440), src=(1, 720, 1440), dst=(487, 30, 30), mem=333_000_000),
        small=dict(shape=(146, 180, 360), src=(1, 180, 360), dst=(146, 30, 30), mem=200_000_000),
        src_fmt="zarr2", src_codec=LZ4, dst_fmt="zarr2", dst_codec=LZ4,
    ),
    # A256: same data, a tight budget (1/12 of the array): direct multi-pass plans get expensive
    "A256": dict(
        title="as A, but 256 MB of memory", base="A",
        kind="sst", dtype="int16", fill=-32768,
        full=dict(shape=(1460, 720, 1440), src=(1, 720, 1440), dst=(1460, 30, 30), mem=256_000_000),
        medium=dict(shape=(487, 720, 1440), src=(1, 720, 1440), dst=(487, 30, 30), mem=86_000_000),
        small=dict(shape=(146, 180, 360), src=(1, 180, 360), dst=(146, 30, 30), mem=64_000_000),
        src_fmt="zarr2", src_codec=LZ4, dst_fmt="zarr2", dst_codec=LZ4,
    ),
    # B. ERA5-like reanalysis
    "B": dict(
        title="ERA5-like float32, time chunks -> pencils, zarr v2 zstd",
        kind="era5", dtype="float32", fill=None,
        full=dict(shape=(2000, 361, 720), src=(24, 361, 720), dst=(2000, 19, 20), mem=512_000_000),
        medium=dict(shape=(672, 361, 720), src=(24, 361, 720), dst=(672, 19, 20), mem=171_000_000),
        small=dict(shape=(240, 91, 180), src=(24, 91, 180), dst=(240, 19, 20), mem=200_000_000),
        src_fmt="zarr2", src_codec=ZSTD1, dst_fmt="zarr2", dst_codec=ZSTD1,
    ),
    # C. EM volume, N5 gzip -> zarr v3 sharded zstd
    "C": dict(
        title="EM uint8, N5 gzip 128^3 -> zarr v3 sharded 512^3 (inner 64^3, zstd)",
        kind="em", dtype="uint8", fill=0,
        full=dict(shape=(900, 1000, 1150), src=(128, 128, 128), dst=(64, 64, 64), dst_shard=(512, 512, 512), mem=1000_000_000),
        medium=dict(shape=(600, 700, 800), src=(128, 128, 128), dst=(64, 64, 64), dst_shard=(512, 512, 512), mem=400_000_000),
        small=dict(shape=(300, 280, 330), src=(64, 64, 64), dst=(32, 32, 32), dst_shard=(128, 128, 128), mem=200_000_000),
        src_fmt="n5", src_codec=GZIP, dst_fmt="zarr3", dst_codec=ZSTD,
    ),
    # D1. zarr v3 unsharded -> sharded, same inner chunk + same codec (bytes could be passed through)
    "D1": dict(
        title="uint16 zarr v3 unsharded 64^3 -> sharded 256^3 (inner 64^3), same zstd codec",
        kind="em16", dtype="uint16", fill=0,
        full=dict(shape=(640, 768, 896), src=(64, 64, 64), dst=(64, 64, 64), dst_shard=(256, 256, 256), mem=512_000_000),
        medium=dict(shape=(512, 512, 640), src=(64, 64, 64), dst=(64, 64, 64), dst_shard=(256, 256, 256), mem=256_000_000),
        small=dict(shape=(160, 192, 224), src=(32, 32, 32), dst=(32, 32, 32), dst_shard=(128, 128, 128), mem=200_000_000),
        src_fmt="zarr3", src_codec=ZSTD, dst_fmt="zarr3", dst_codec=ZSTD,
    ),
    # D2. uncompressed, mismatched chunk shapes: overlap in every dimension
    "D2": dict(
        title="uint16 uncompressed zarr v2, 100^3 -> 128^3 (overlap in all dims)",
        kind="em16", dtype="uint16", fill=0,
        full=dict(shape=(700, 900, 1000), src=(100, 100, 100), dst=(128, 128, 128), mem=256_000_000),
        medium=dict(shape=(500, 600, 700), src=(100, 100, 100), dst=(128, 128, 128), mem=128_000_000),
        small=dict(shape=(300, 250, 350), src=(50, 50, 50), dst=(64, 64, 64), mem=100_000_000),
        src_fmt="zarr2", src_codec=None, dst_fmt="zarr2", dst_codec=None,
    ),
    "D2Z": dict(
        title="uint16 zstd zarr v2, 100^3 -> 128^3 (overlap in all dims)",
        kind="em16", dtype="uint16", fill=0,
        full=dict(shape=(700, 900, 1000), src=(100, 100, 100), dst=(128, 128, 128), mem=256_000_000),
        medium=dict(shape=(500, 600, 700), src=(100, 100, 100), dst=(128, 128, 128), mem=128_000_000),
        small=dict(shape=(300, 250, 350), src=(50, 50, 50), dst=(64, 64, 64), mem=100_000_000),
        src_fmt="zarr2", src_codec=ZSTD1, dst_fmt="zarr2", dst_codec=ZSTD1,
    ),
    # E. many tiny chunks
    "E": dict(
        title="float32 4000^2, 10k tiny chunks (40,40) -> (400,400), zarr v2 blosc-lz4",
        kind="plane", dtype="float32", fill=None,
        full=dict(shape=(4000, 4000), src=(40, 40), dst=(400, 400), mem=256_000_000),
        medium=dict(shape=(4000, 4000), src=(40, 40), dst=(400, 400), mem=256_000_000),
        small=dict(shape=(1200, 1200), src=(40, 40), dst=(400, 400), mem=256_000_000),
        src_fmt="zarr2", src_codec=LZ4, dst_fmt="zarr2", dst_codec=LZ4,
    ),
    "E2": dict(
        title="reverse of E: (400,400) -> 10k tiny chunks (40,40)",
        kind="plane", dtype="float32", fill=None,
        full=dict(shape=(4000, 4000), src=(400, 400), dst=(40, 40), mem=256_000_000),
        medium=dict(shape=(4000, 4000), src=(400, 400), dst=(40, 40), mem=256_000_000),
        small=dict(shape=(1200, 1200), src=(400, 400), dst=(40, 40), mem=256_000_000),
        src_fmt="zarr2", src_codec=LZ4, dst_fmt="zarr2", dst_codec=LZ4,
    ),
    # F. raw blocks (an uncompressed zarr v2 array whose chunks divide the shape IS a set of raw files)
    "F1": dict(
        title="raw split: one file -> 8^3 blocks",
        kind="em16", dtype="uint16", fill=0,
        full=dict(shape=(840, 840, 840), src=(840, 840, 840), dst=(105, 105, 105), mem=256_000_000),
        medium=dict(shape=(600, 600, 600), src=(600, 600, 600), dst=(75, 75, 75), mem=128_000_000),
        small=dict(shape=(240, 240, 240), src=(240, 240, 240), dst=(30, 30, 30), mem=64_000_000),
        src_fmt="zarr2", src_codec=None, dst_fmt="zarr2", dst_codec=None, raw=True,
    ),
    "F2": dict(
        title="raw merge: 8^3 blocks -> one file",
        kind="em16", dtype="uint16", fill=0,
        full=dict(shape=(840, 840, 840), src=(105, 105, 105), dst=(840, 840, 840), mem=256_000_000),
        medium=dict(shape=(600, 600, 600), src=(75, 75, 75), dst=(600, 600, 600), mem=128_000_000),
        small=dict(shape=(240, 240, 240), src=(30, 30, 30), dst=(240, 240, 240), mem=64_000_000),
        src_fmt="zarr2", src_codec=None, dst_fmt="zarr2", dst_codec=None, raw=True,
    ),
    "F3": dict(
        title="raw resplit: 4^3 blocks -> 3^3 blocks",
        kind="em16", dtype="uint16", fill=0,
        full=dict(shape=(840, 840, 840), src=(210, 210, 210), dst=(280, 280, 280), mem=256_000_000),
        medium=dict(shape=(600, 600, 600), src=(150, 150, 150), dst=(200, 200, 200), mem=128_000_000),
        small=dict(shape=(240, 240, 240), src=(60, 60, 60), dst=(80, 80, 80), mem=64_000_000),
        src_fmt="zarr2", src_codec=None, dst_fmt="zarr2", dst_codec=None, raw=True,
    ),
    # G. an object store whose answers take 20 ms
    "G": dict(
        title="as A, from S3 to S3, each answer 20 ms late",
        kind="sst", dtype="int16", fill=-32768, latency_ms=20,
        full=dict(shape=(480, 720, 1440), src=(1, 720, 1440), dst=(480, 30, 30), mem=333_000_000),
        medium=dict(shape=(120, 720, 1440), src=(1, 720, 1440), dst=(120, 30, 30), mem=125_000_000),
        small=dict(shape=(48, 180, 360), src=(1, 180, 360), dst=(48, 30, 30), mem=125_000_000),
        src_fmt="zarr2", src_codec=LZ4, dst_fmt="zarr2", dst_codec=LZ4,
    ),
    # H. nearly all chunks are missing
    "H": dict(
        title="uint16 zarr v3, 0.1 % of it stored, 64^3 -> 128^3 zstd",
        kind="sparse", dtype="uint16", fill=0,
        full=dict(shape=(1024, 1024, 1024), src=(64, 64, 64), dst=(128, 128, 128), mem=256_000_000),
        medium=dict(shape=(1024, 1024, 1024), src=(64, 64, 64), dst=(128, 128, 128), mem=256_000_000),
        small=dict(shape=(512, 512, 512), src=(64, 64, 64), dst=(128, 128, 128), mem=64_000_000),
        src_fmt="zarr3", src_codec=ZSTD, dst_fmt="zarr3", dst_codec=ZSTD,
    ),
}

# The same without a codec, so with data of its own.
CASES["A256R"] = CASES["A256"] | dict(title="as A256, uncompressed", base="A256R", src_codec=None, dst_codec=None)


def resolve(name: str, size: str = "full") -> dict:
    """One flat, JSON-able description of a case."""
    if shapes.is_shape(name):
        return shapes.resolve(name, size)
    c = CASES[name]
    s = c[size]
    import numpy as np
    item = np.dtype(c["dtype"]).itemsize
    return dict(
        name=name, size=size, title=c["title"], kind=c["kind"], dtype=c["dtype"], fill=c["fill"],
        shape=list(s["shape"]), raw_bytes=math.prod(s["shape"]) * item, mem=s["mem"],
        raw=c.get("raw", False), latency_ms=c.get("latency_ms"), data_dir=(c.get("base", name)) + ("" if size == "full" else "_" + size),
        src=dict(format=c["src_fmt"], chunks=list(s["src"]), shards=None, codec=c["src_codec"],
                 name="src.n5/v" if c["src_fmt"] == "n5" else "src.zarr/v"),
        dst=dict(format=c["dst_fmt"], chunks=list(s["dst"]),
                 shards=list(s["dst_shard"]) if s.get("dst_shard") else None, codec=c["dst_codec"]),
    )
