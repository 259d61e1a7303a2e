#!/usr/bin/env python3
"""Precomputed volumes against igneous (`igneous image xfer`), which a user of Neuroglancer would take, on the same volume.

    just bench-volumes [--shape 512,1024,1024] [--reps 3] [--cases recut,shards,gzip] [--data DIR]

A volume of uint16 as a microscope has it, in chunks of 64³ voxels without compression. Each repetition runs both contestants of a
case once, in an order that rotates; ratios are taken of runs of one repetition, and medians of those. Both have 2 processes or
threads; igneous takes tasks for the memory that is given (`--memory`, its own default, and 512 MB). What both have written is read by
cloud-volume and compared with the source. Peaks are those of the whole process tree.

recut    chunks of 128 × 128 × 64, raw
shards   chunks of 64³ in shards, which both choose, compressed by gzip as igneous does; with 512 MB that loses chunks (`findings/`)
gzip     chunks of 128 × 128 × 64, compressed
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

VENV = ROOT / ".venv-bench-volumes"
MIB = 1 << 20

MAKE = """
import sys, numpy as np
from cloudvolume import CloudVolume
path, shape = sys.argv[1], tuple(map(int, sys.argv[2].split(",")))
z, y, x = shape
info = CloudVolume.create_new_info(num_channels=1, layer_type="image", data_type="uint16", encoding="raw", resolution=[8, 8, 40],
                                   voxel_offset=[0, 0, 0], chunk_size=[64, 64, 64], volume_size=[x, y, z])
volume = CloudVolume("file://" + path, info=info, compress=False, progress=False)
volume.commit_info()
volume.commit_provenance()
rng = np.random.default_rng(2)
at_x, at_y = np.arange(x)[:, None, None], np.arange(y)[None, :, None]
for start in range(0, z, 64):
    at_z = np.arange(start, min(start + 64, z))[None, None, :]
    smooth = 900 + 700 * np.sin(at_z / 31) * np.cos(at_y / 47) + 300 * np.sin(at_x / 23)
    volume[:, :, start:start + 64] = rng.poisson(np.maximum(smooth, 20) / 8).astype("uint16") * 8
"""

# cloud-volume reads its `.gz` files, which tensorstore does not.
SAME = """
import sys, numpy as np
from cloudvolume import CloudVolume
one, two = (CloudVolume("file://" + path, progress=False) for path in sys.argv[1:3])
assert one.bounds == two.bounds, (one.bounds, two.bounds)
for z in range(one.bounds.minpt[2], one.bounds.maxpt[2], 64):
    end = min(z + 64, one.bounds.maxpt[2])
    assert np.array_equal(one[:, :, z:end], two[:, :, z:end]), z
"""


def python(code, *words):
    return [str(VENV / "bin/python"), "-c", code, *map(str, words)]


def cases(binary, source):
    """The words of both contestants of each case; `{out}` stands for the target."""
    ours = [binary, "copy", str(source), "{out}", "--format", "precomputed", "--threads", "2", "--max-mem", "512MiB", "--no-fsync", "-q"]
    theirs = [str(VENV / "bin/igneous"), "-p", "2", "image", "xfer", f"file://{source}", "file://{out}", "--skip-downsample",
              "--no-src-update"]
    every = {
        "recut": (["--chunks", "64,128,128", "--codec", "raw"], ["--chunk-size", "128,128,64", "--compress", "none"]),
        "shards": (["--shards", "auto", "--codec", "gzip"], ["--sharded"]),
        "gzip": (["--chunks", "64,128,128", "--codec", "gzip"], ["--chunk-size", "128,128,64", "--compress", "gzip"]),
    }
    found = {name: {"rechunk": ours + own, "igneous": theirs + other} for name, (own, other) in every.items()}
    for name in ("recut", "gzip"):
        found[name]["igneous in 512 MB"] = found[name]["igneous"] + ["--memory", "512000000"]
    return found


def measure(name, contestants, source, place, reps):
    """Runs of the contestants of a case, by repetition."""
    names, runs, log = list(contestants), {who: [] for who in contestants}, place / "log.txt"
    for turn in range(reps):
        for who in names[turn % len(names):] + names[: turn % len(names)]:
            out = place / "out"
            shutil.rmtree(out, ignore_errors=True)
            os.sync()
            found = run([word.replace("{out}", str(out)) for word in contestants[who]], 3600, log)
            if found["code"] != 0:
                raise SystemExit(f"{who} of {name} ended with {found['code']}: {log.read_text()[-2000:]}")
            if turn == 0 and run(python(SAME, source, out), 1200, log)["code"] != 0:
                raise SystemExit(f"{name}: {who} wrote other elements: {log.read_text()[-2000:]}")
            found["files"] = sum(len(files) for _, _, files in os.walk(out))
            runs[who].append(found)
            shutil.rmtree(out)
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / "target/release/rechunk"))
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target/bench-volumes")
    parser.add_argument("--shape", default="512,1024,1024")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--cases", default="recut,shards,gzip")
    arguments = parser.parse_args()
    place = arguments.data / arguments.shape
    place.mkdir(parents=True, exist_ok=True)
    source = place / "source"
    if not (place / "made").exists():
        made = run(python(MAKE, source, arguments.shape), 3600, place / "log.txt")
        if made["code"] != 0:
            raise SystemExit((place / "log.txt").read_text())
        (place / "made").touch()
    every = cases(arguments.binary, source)
    for name in arguments.cases.split(","):
        runs = measure(name, every[name], source, place, arguments.reps)
        ours = runs["rechunk"]
        print(f"{name}: peak {max(r['rss'] for r in ours) / MIB:.0f} MiB, {ours[0]['files']} files")
        for other, theirs in list(runs.items())[1:]:
            ratios = [a["wall"] / b["wall"] for a, b in zip(ours, theirs)]
            peak = max(r["rss"] for r in theirs) / MIB
            print(f"  {statistics.median(ratios):.2f} x {other} ({min(ratios):.2f} to {max(ratios):.2f}), "
                  f"peak there {peak:.0f} MiB, {theirs[0]['files']} files")


if __name__ == "__main__":
    main()
