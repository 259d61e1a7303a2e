#!/usr/bin/env python3
"""Pyramids against what a user would take instead, on the same generated arrays.

    just bench-pyramid [--side 8192] [--volume 513,1331,1776] [--reps 3] [--cases plane,volume] [--data DIR]

Level 0 is there, and everybody writes the coarser levels beside it, with 2 threads and the same chunks and codec. Each repetition
runs every contestant of a case once, in an order that rotates; ratios are taken of runs of one repetition, and medians of those.
Levels are compared with those of the first contestant, and peaks are those of the whole process tree.

plane      float64, side², chunks of 256² in shards of 4096², zstd; 8 levels by factors of 2
volume     uint16 as a microscope has it, chunks of 64³, zstd; 4 levels by factors of 2 along all axes

rechunk      `pyramid` into an image that has level 0
tensorstore  the `downsample` driver over the level before, written object by object
copy, read   `rechunk copy` of level 0, and a read of level 0 alone (`apply --op min-max-mean`): a pyramid need not take longer
"""

import argparse
import os
import pathlib
import shutil
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE / "race"))

from process import run  # noqa: E402

PYTHON = str(ROOT / ".venv-bench/bin/python")
MIB = 1 << 20

MAKE_PLANE = """
import sys, numpy as np, zarr
path, side = sys.argv[1], int(sys.argv[2])
array = zarr.create_array(path + "/s0", shape=(side, side), chunks=(256, 256), shards=(min(side, 4096),) * 2, dtype="float64",
                          fill_value=0, compressors=zarr.codecs.ZstdCodec(level=1), dimension_names=["y", "x"])
rng = np.random.default_rng(1)
x = np.arange(side)
for start in range(0, side, 4096):
    y = np.arange(start, min(start + 4096, side))[:, None]
    field = 20 + 15 * np.sin(y / 900) + 5 * np.cos(x / 310) + rng.normal(0, 0.5, (len(y), side))
    array[start:start + 4096] = np.round(field, 2)
"""

MAKE_VOLUME = """
import sys, numpy as np, zarr
path, shape = sys.argv[1], tuple(map(int, sys.argv[2].split(",")))
array = zarr.create_array(path + "/s0", shape=shape, chunks=(64, 64, 64), dtype="uint16", fill_value=0,
                          compressors=zarr.codecs.ZstdCodec(level=1), dimension_names=["z", "y", "x"])
rng = np.random.default_rng(2)
y, x = np.arange(shape[1])[:, None], np.arange(shape[2])
for start in range(0, shape[0], 64):
    z = np.arange(start, min(start + 64, shape[0]))[:, None, None]
    smooth = 900 + 700 * np.sin(z / 31) * np.cos(y / 47) + 300 * np.sin(x / 23)
    array[start:start + 64] = rng.poisson(np.maximum(smooth, 20) / 8).astype("uint16") * 8
"""

IMAGE = """
import json, sys
path, axes = sys.argv[1], list(sys.argv[2])
axes = [{"name": name, "type": "space"} for name in axes]
scale = [{"type": "scale", "scale": [1.0] * len(axes)}]
image = {"axes": axes, "name": "bench", "datasets": [{"path": "s0", "coordinateTransformations": scale}]}
group = {"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": "0.5", "multiscales": [image]}}}
open(path + "/zarr.json", "w").write(json.dumps(group))
"""

TENSORSTORE = """
import sys, itertools, tensorstore as ts
from concurrent.futures import ThreadPoolExecutor
path, levels = sys.argv[1], int(sys.argv[2])
context = ts.Context({"cache_pool": {"total_bytes_limit": 200_000_000}, "data_copy_concurrency": {"limit": 2}})
spec = lambda level: {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/s{level}"}}
before = ts.open(spec(0), context=context, open=True).result()
for level in range(1, levels + 1):
    view = ts.downsample(before, [2] * before.rank, "mean")
    shape = [n // 2 for n in before.shape]
    metadata = before.spec().to_json()["metadata"]
    out = ts.open({**spec(level), "metadata": {**metadata, "shape": shape}}, create=True, context=context).result()
    box = out.chunk_layout.write_chunk.shape
    def write(start):
        part = tuple(slice(s, min(s + b, n)) for s, b, n in zip(start, box, shape))
        out[part].write(view[part]).result()
    starts = itertools.product(*(range(0, n, b) for n, b in zip(shape, box)))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, starts))
    before = out
"""

# Theirs rounds halves to even, and from level to level: one apart for each level is right.
SAME = """
import sys, numpy as np, zarr
one, two, levels = sys.argv[1], sys.argv[2], int(sys.argv[3])
worst = 0.0
for level in range(1, levels + 1):
    a, b = (zarr.open_array(f"{path}/s{level}", mode="r") for path in (one, two))
    assert a.shape == b.shape, (level, a.shape, b.shape)
    for start in range(0, a.shape[0], 512):
        worst = max(worst, float(np.abs(a[start:start + 512].astype("f8") - b[start:start + 512]).max()) / level)
print(worst)
sys.exit(worst > 1.0)
"""


def python(code, *words):
    return [PYTHON, "-c", code, *map(str, words)]


def cases(binary, place):
    """The contestants of each case, with its level 0, its axes and the number of its levels."""
    fixed = ["--threads", "2", "--max-mem", "512MiB", "--no-fsync", "-q"]
    found = {}
    for name, axes, levels in [("plane", "yx", 8), ("volume", "zyx", 4)]:
        first = place / name / "s0"
        factors = ";".join(",".join([str(2**level)] * len(axes)) for level in range(1, levels + 1))
        found[name] = (first, axes, levels, {
            "rechunk": [binary, "pyramid", "{image}", "{image}", "--factors", factors, *fixed],
            "tensorstore": python(TENSORSTORE, "{image}", levels),
            "copy": [binary, "copy", str(first), "{image}/copy", *fixed],
            "read": [binary, "apply", str(first), "--op", "min-max-mean", "--work", ",".join(["512"] * len(axes)), "--threads", "2",
                     "--max-mem", "512MiB", "-q"],
        })
    return found


def measure(name, case, place, reps):
    """Seconds and peaks of the contestants of a case, by repetition."""
    first, axes, levels, contestants = case
    names, runs, log = list(contestants), {who: [] for who in contestants}, place / "log.txt"
    for turn in range(reps):
        ours = None
        for who in names[turn % len(names):] + names[: turn % len(names)]:
            image = place / "out" / f"{name}-{turn}-{who}"
            image.mkdir(parents=True)
            (image / "s0").symlink_to(first)
            run(python(IMAGE, image, axes), 60, log)
            os.sync()
            found = run([word.replace("{image}", str(image)) for word in contestants[who]], 3600, log)
            if found["code"] != 0:
                raise SystemExit(f"{who} of {name} ended with {found['code']}: {log.read_text()[-2000:]}")
            runs[who].append(found)
            if who in ("rechunk", "tensorstore"):
                if ours is None:
                    ours = image
                    continue
                check = run(python(SAME, ours, image, levels), 1200, log)
                if check["code"] != 0:
                    raise SystemExit(f"{name}: {who} wrote other elements: {log.read_text()}")
            shutil.rmtree(image)
        shutil.rmtree(ours)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target/release/rechunk"))
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target/bench-pyramid")
    parser.add_argument("--side", type=int, default=8192)
    parser.add_argument("--volume", default="513,1331,1776")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--cases", default="plane,volume")
    arguments = parser.parse_args()
    place = arguments.data / f"{arguments.side}-{arguments.volume}"
    place.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place / "out", ignore_errors=True)
    every = cases(arguments.binary, place)
    for name in arguments.cases.split(","):
        code, size = (MAKE_PLANE, arguments.side) if name == "plane" else (MAKE_VOLUME, arguments.volume)
        if not (place / name / "s0/zarr.json").exists():
            (place / name).mkdir(exist_ok=True)
            made = run(python(code, place / name, size), 3600, place / "log.txt")
            if made["code"] != 0:
                raise SystemExit((place / "log.txt").read_text())
        runs = measure(name, every[name], place, arguments.reps)
        ours = runs["rechunk"]
        print(f"{name}: peak {max(r['rss'] for r in ours) / MIB:.0f} MiB")
        both = [{"wall": a["wall"] + b["wall"], "rss": 0} for a, b in zip(runs["copy"], runs["read"])]
        for other, theirs in [*list(runs.items())[1:], ("copy and read together", both)]:
            ratios = [a["wall"] / b["wall"] for a, b in zip(ours, theirs)]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            peak = max(r["rss"] for r in theirs) / MIB
            print(f"  {statistics.median(ratios):.2f} x {other} ({spread})" + (f", peak there {peak:.0f} MiB" if peak else ""))


if __name__ == "__main__":
    main()
