"""N5 (gzip:5, 64³ blocks) to sharded Zarr v3 (zstd:3, 64³ chunks) and back: rechunk against tensorstore.

    just bench-n5 [--extent 384] [--shard 384] [--pairs 5] [--directory DIR]

Whole processes on the same files, with the same codecs and levels, without fsync. Each round runs everyone once, in an order that
rotates, so that ratios are taken of runs that saw the same machine. What was written is read back and compared after every run.
tensorstore goes two ways: `copy` lets it stream (`target.write(source)`), `loop` reads a shard's region and writes it. Its runs
have to start Python, which is timed as well: `net` ratios are without that.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

CHUNK = 64
GZIP_LEVEL, ZSTD_LEVEL = 5, 3
WAYS = ["start", "copy", "loop"]


def volume(extent, seed=20261121):
    """uint16 like a light-sheet stack: smooth bright structures over a dark background, shot noise, empty corners."""
    random = np.random.default_rng(seed)
    coarse = random.standard_normal((extent // 16 + 2,) * 3, dtype="f4")
    at = np.linspace(0, extent // 16, extent, dtype="f4")
    low, part = at.astype(int), (at - at.astype(int)).astype("f4")
    for axis in range(3):
        weight = part.reshape([-1 if a == axis else 1 for a in range(3)])
        coarse = coarse.take(low, axis) * (1 - weight) + coarse.take(low + 1, axis) * weight
    signal = 100 + 900 * np.maximum(coarse, 0) ** 2
    signal += random.standard_normal(signal.shape, dtype="f4") * np.sqrt(signal) * 0.5
    numbers = np.clip(signal, 0, 65535).astype("u2")
    axis = np.linspace(-1, 1, extent)
    numbers[axis[:, None, None] ** 2 + axis[:, None] ** 2 + axis**2 > 2] = 0
    return numbers


def opened(path, shape=None, shard=None):
    """An array by tensorstore, made anew where a shape is given; N5's axes are turned to C order."""
    import tensorstore

    is_n5 = ".n5" in str(path)
    spec = {"driver": "n5" if is_n5 else "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
    spec["context"] = {"file_io_sync": False, "file_io_locking": {"mode": "none"}}
    if shape and is_n5:
        compression = {"type": "gzip", "level": GZIP_LEVEL}
        spec["metadata"] = {"dimensions": shape, "blockSize": [CHUNK] * 3, "dataType": "uint16", "compression": compression}
    elif shape:
        endian = {"name": "bytes", "configuration": {"endian": "little"}}
        shards = {
            "chunk_shape": [CHUNK] * 3,
            "codecs": [endian, {"name": "zstd", "configuration": {"level": ZSTD_LEVEL, "checksum": False}}],
            "index_codecs": [endian, {"name": "crc32c"}],
        }
        spec["metadata"] = {
            "shape": shape, "data_type": "uint16", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [shard] * 3}},
            "codecs": [{"name": "sharding_indexed", "configuration": shards}],
        }
    store = tensorstore.open({**spec, "create": bool(shape), "open": not shape}).result()
    return store.T if is_n5 else store


def with_tensorstore(way, source, target, shard):
    if way == "start":
        import tensorstore  # noqa: F401

        return
    source = opened(source)
    target = opened(target, list(source.shape), shard)
    if way == "copy":
        target.write(source).result()
        return
    starts = [range(0, extent, shard) for extent in source.shape]
    for z, y, x in ((z, y, x) for z in starts[0] for y in starts[1] for x in starts[2]):
        region = np.s_[z : z + shard, y : y + shard, x : x + shard]
        target[region].write(source[region].read().result(), can_reference_source_data_indefinitely=True).result()


def contestants(program, source, target, shard):
    ours = [program, "copy", source, target, "--no-fsync", "-q", "--chunks", ",".join([str(CHUNK)] * 3)]
    if target.endswith(".zarr"):
        ours += ["--format", "zarr3", "--shards", ",".join([str(shard)] * 3), "--codec", f"zstd:{ZSTD_LEVEL}"]
    else:
        ours += ["--format", "n5", "--codec", f"gzip:{GZIP_LEVEL}"]
    theirs = [[sys.executable, __file__, "--tensorstore", way, source, target, str(shard)] for way in WAYS]
    return {"rechunk": ours, **{f"tensorstore {way}": command for way, command in zip(WAYS, theirs)}}


def timed(command):
    """Wall, and user and system time of a process, seconds."""
    started = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"exit {process.returncode}: {' '.join(command)}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime


def stored_bytes(path):
    return sum(file.stat().st_size for file in pathlib.Path(path).rglob("*") if file.is_file())


def race(name, source, target, truth, options):
    runs, sizes = {}, {}
    for number in range(options.pairs + 1):
        everyone = list(contestants(options.program, source, target, options.shard).items())
        turn = number % len(everyone)
        for who, command in everyone[turn:] + everyone[:turn]:
            shutil.rmtree(target, ignore_errors=True)
            spent = timed(command)
            if not who.endswith("start") and not np.array_equal(opened(target).read().result(), truth):
                sys.exit(f"{who} has written other elements: {name}")
            sizes[who] = stored_bytes(target)
            if number:  # the first round only warms up
                runs.setdefault(who, []).append(spent)
    print(f"\n{name}: {truth.shape} uint16, {truth.nbytes / 1e6:.0f} MB, {options.pairs} rounds; medians")
    heads = ["wall s", "cpu s", "out MB", "wall ours/theirs", "net", "cpu ours/theirs", "net"]
    print(" " * 18 + "".join(f"{head:>{width}}" for head, width in zip(heads, [9, 9, 9, 24, 6, 24, 6])))
    for who, spent in runs.items():
        wall, cpu = (statistics.median(run[at] for run in spent) for at in range(2))
        said = "".join(ratios(runs, who, at) for at in range(2)) if who in ["tensorstore copy", "tensorstore loop"] else ""
        print(f"{who:18}{wall:9.2f}{cpu:9.2f}{sizes[who] / 1e6:9.1f}{said}", flush=True)


def ratios(runs, who, at):
    """Ours to theirs, pair by pair: median, least and most; and the median without the start of Python."""
    pairs = [(ours[at], theirs[at], start[at]) for ours, theirs, start in zip(runs["rechunk"], runs[who], runs["tensorstore start"])]
    whole = sorted(ours / theirs for ours, theirs, _ in pairs)
    net = statistics.median(ours / max(theirs - start, 1e-3) for ours, theirs, start in pairs)
    return f"{f'{statistics.median(whole):.2f} ({whole[0]:.2f} to {whole[-1]:.2f})':>24}{net:6.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/rechunk")
    parser.add_argument("--extent", type=int, default=384)
    parser.add_argument("--shard", type=int, default=384)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--directory", help="where the files go [a temporary directory]")
    options = parser.parse_args()
    truth = volume(options.extent)
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        n5, zarr = f"{directory}/source.n5/volume", f"{directory}/source.zarr"
        for path in [n5, zarr]:
            opened(path, list(truth.shape), options.shard).write(truth).result()
        print(f"stored: N5 {stored_bytes(n5) / 1e6:.1f} MB, Zarr {stored_bytes(zarr) / 1e6:.1f} MB")
        race("N5 gzip to sharded Zarr v3", n5, f"{directory}/target.zarr", truth, options)
        race("sharded Zarr v3 to N5 gzip", zarr, f"{directory}/target.n5/volume", truth, options)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--tensorstore"]:
        with_tensorstore(*sys.argv[2:5], int(sys.argv[5]))
    else:
        main()
