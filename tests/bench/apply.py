#!/usr/bin/env python3
"""Chunk-wise apply against what a user would take instead, on the same generated array.

    just bench-apply [--side 512] [--reps 3] [--cases identity,gaussian,levels] [--data DIR]

An array of float32 of side³ elements (0.5 GB by default) in zstd chunks of 64³; 2 threads for everybody. Each repetition runs
every contestant of a case once, in an order that rotates; ratios are taken of runs of one repetition, and medians of those.
What was written is compared with the first contestant's, and peaks are those of the whole process tree.

identity   `apply --op identity`, no crop and no blend, against `copy` of the same array into the same chunks
gaussian   sigma 2 in three dimensions: rechunk with a level of whole slabs above the boxes, and without; dask `map_overlap` with
           SciPy (it writes its blocks as chunks, the others 64³); a hand-written loop with tensorstore and SciPy
levels     an operation that costs little: one level of 144² with blends against two levels, 512² over 144², by the same blends
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
CHUNK, WORK, PLANE_SIDE = 64, 128, 1024
MIB = 1 << 20

MAKE = """
import sys, numpy as np, zarr
path, side = sys.argv[1], int(sys.argv[2])
array = zarr.create_array(path, shape=(side,) * 3, chunks=(64,) * 3, dtype="float32", fill_value=0,
                          compressors=zarr.codecs.ZstdCodec(level=1))
rng = np.random.default_rng(1)
axis = np.arange(side, dtype="float32")
for start in range(0, side, 64):
    z = axis[start:start + 64, None, None]
    smooth = np.sin(z / 17) * np.cos(axis[None, :, None] / 23) + np.sin(axis[None, None, :] / 11)
    array[start:start + 64] = np.round(100 * smooth + rng.normal(0, 3, smooth.shape)).astype("float32")
"""

MAKE_PLANES = """
import sys, numpy as np, zarr
path, side = sys.argv[1], int(sys.argv[2])
array = zarr.create_array(path, shape=(32, side, side), chunks=(32, 128, 128), dtype="uint8", fill_value=0,
                          compressors=zarr.codecs.ZstdCodec(level=1))
y, x = np.mgrid[:side, :side]
array[:] = np.stack([(np.sin((x + 3 * z) / 19) * np.cos(y / 31) * 90 + 120).astype("uint8") for z in range(32)])
"""

DASK = """
import sys, dask, dask.array as da
from scipy.ndimage import gaussian_filter
source, target, work = sys.argv[1], sys.argv[2], int(sys.argv[3])
dask.config.set(scheduler="threads", num_workers=2)
array = da.from_zarr(source, chunks=(work,) * 3)
out = array.map_overlap(lambda block: gaussian_filter(block, 2.0, truncate=4.0, mode="nearest"), depth=8, boundary="nearest")
out.to_zarr(target)
"""

TENSORSTORE = """
import sys, itertools, numpy as np, tensorstore as ts
from concurrent.futures import ThreadPoolExecutor
from scipy.ndimage import gaussian_filter
source, target, work = sys.argv[1], sys.argv[2], int(sys.argv[3])
context = ts.Context({"cache_pool": {"total_bytes_limit": 200_000_000}})
spec = lambda path: {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}
array = ts.open(spec(source), context=context, open=True).result()
out = ts.open({**spec(target), "metadata": array.spec().to_json()["metadata"]}, create=True).result()
def block(start):
    low = [max(0, s - 8) for s in start]
    high = [min(n, s + work + 8) for s, n in zip(start, array.shape)]
    read = array[tuple(slice(a, b) for a, b in zip(low, high))].read().result()
    done = gaussian_filter(read, 2.0, truncate=4.0, mode="nearest")
    keep = tuple(slice(s - a, min(s + work, n) - a) for s, a, n in zip(start, low, array.shape))
    out[tuple(slice(s, min(s + work, n)) for s, n in zip(start, array.shape))].write(done[keep]).result()
starts = itertools.product(*(range(0, n, work) for n in array.shape))
with ThreadPoolExecutor(2) as pool:
    list(pool.map(block, starts))
"""

SAME = """
import sys, numpy as np, zarr
one, two = (zarr.open_array(path, mode="r") for path in sys.argv[1:3])
worst = max(float(np.abs(one[s:s + 64].astype("f8") - two[s:s + 64]).max()) for s in range(0, one.shape[0], 64))
print(worst)
sys.exit(worst > 0.01)
"""


def rechunk(binary, *words):
    return [binary, *words, "--threads", "2", "--max-mem", "1GiB", "--no-fsync", "-q"]


def python(code, *words):
    return [PYTHON, "-c", code, *map(str, words)]


def cases(binary, place, side):
    """The contestants of each case by name: ours first, then whom it is compared with."""
    volume, planes, chunks = str(place / "volume.zarr"), str(place / "planes.zarr"), f"{CHUNK},{CHUNK},{CHUNK}"
    box = f"{WORK},{WORK},{WORK}"
    into = ["--chunks", box, "--codec", "zstd:1"]
    planar = ["apply", planes, "{out}", "--op", "rescale:scale=1,offset=0", "--cast", "uint8", "--work", "32,144,144"]
    smooth = rechunk(binary, "apply", volume, "{out}", "--op", "gaussian:sigma=2,truncate=4", "--crop", "auto", "--boundary", "nearest",
                     "--work", box, "--chunks", chunks, "--codec", "zstd:1")
    return {
        "identity": {
            "apply": rechunk(binary, "apply", volume, "{out}", "--op", "identity", "--work", box, *into),
            "copy": rechunk(binary, "copy", volume, "{out}", *into),
        },
        "gaussian": {
            "apply": [*smooth, "--level", f"{WORK},{side},{side}"],
            "apply without the level": smooth,
            "dask": python(DASK, volume, "{out}", WORK),
            "tensorstore": python(TENSORSTORE, volume, "{out}", WORK),
        },
        "levels": {
            "two levels": rechunk(binary, *planar, "--blend", "0,16,16", "--level", "32,512,512;blend=0,32,32"),
            "one level": rechunk(binary, *planar, "--blend", "0,16,16", "--expand", "work"),
        },
    }


def measure(name, contestants, place, reps):
    """Seconds and peaks of the contestants of a case, by repetition."""
    names, runs = list(contestants), {who: [] for who in contestants}
    for turn in range(reps):
        first = None
        for who in names[turn % len(names):] + names[: turn % len(names)]:
            out = place / "out" / f"{name}-{turn}-{who}".replace(" ", "-")
            out.parent.mkdir(parents=True, exist_ok=True)
            os.sync()
            words = [str(out) if word == "{out}" else word for word in contestants[who]]
            log = place / "log.txt"
            found = run(words, 1800, log)
            if found["code"] != 0:
                raise SystemExit(f"{who} of {name} ended with {found['code']}: {log.read_text()[-2000:]}")
            runs[who].append(found)
            if first is None:
                first = out
            elif name != "levels":
                run_check = run(python(SAME, first, out), 600, log)
                if run_check["code"] != 0:
                    raise SystemExit(f"{name}: {who} wrote other elements: {log.read_text()}")
                shutil.rmtree(out)
        shutil.rmtree(first)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target/release/rechunk"))
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target/bench-apply")
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--cases", default="identity,gaussian,levels")
    arguments = parser.parse_args()
    place = arguments.data / str(arguments.side)
    place.mkdir(parents=True, exist_ok=True)
    for path, code, side in [("volume.zarr", MAKE, arguments.side), ("planes.zarr", MAKE_PLANES, PLANE_SIDE)]:
        if not (place / path / "zarr.json").exists():
            made = run(python(code, place / path, side), 1800, place / "log.txt")
            if made["code"] != 0:
                raise SystemExit((place / "log.txt").read_text())
    every = cases(arguments.binary, place, arguments.side)
    for name in arguments.cases.split(","):
        runs = measure(name, every[name], place, arguments.reps)
        ours, *others = runs
        print(f"{name}: {ours} peak {max(r['rss'] for r in runs[ours]) / MIB:.0f} MiB")
        for other in others:
            ratios = [a["wall"] / b["wall"] for a, b in zip(runs[ours], runs[other])]
            spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
            peak = max(r["rss"] for r in runs[other]) / MIB
            print(f"  {statistics.median(ratios):.2f} x {other} ({spread}), peak there {peak:.0f} MiB")


if __name__ == "__main__":
    main()
