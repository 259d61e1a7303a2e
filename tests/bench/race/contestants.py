"""Who races, and how each is called."""

import json
import os
import pathlib

import raw_files as raw
import tsutil

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
THREADS = 2

# name: virtual environment, script and its arguments
CONTESTANTS = {
    "ts-loop": (".venv-bench", "ts.py --mode loop"),
    "ts-pull": (".venv-bench", "ts.py --mode pull"),
    "ts-naive": (".venv-bench", "ts.py --mode naive"),
    "ts-2stage": (".venv-bench", "ts_2stage.py"),
    "z5py": (".venv-bench", "z5py_loop.py"),
    "zarr-python": (".venv-bench", "zarr3_loop.py"),
    "dask": (".venv-bench", "dask_peer.py"),
    "rechunker": (".venv-bench-z2", "rechunker_peer.py"),
    "memmap": (".venv-bench", "raw.py --mode memmap"),
    "seek": (".venv-bench", "raw.py --mode seek"),
}

OURS = ["rechunk", "rechunk+sync"]
# Another build of rechunk (`--against`), called as "rechunk" is.
BEFORE = "before"
# A program of its own that reads Zarr and writes Zarr v3: who has it (`tests/bench/setup.sh zarrs`) races against it.
REENCODE = "zarrs_reencode"
REENCODE_PROGRAM = ROOT / ".venv-bench/zarrs/bin/zarrs_reencode"
# What only copies the source's files, to compare with.
COPY = "cp -r"
# The best peers first.
BY_CASE = {
    "A": [*OURS, "z5py", "ts-loop", "rechunker", "dask", "zarr-python", "ts-naive", REENCODE],
    "A256": [*OURS, "z5py", "ts-loop", "rechunker", REENCODE],
    "B": [*OURS, "ts-2stage", "ts-naive", "ts-loop", "z5py", "dask", "rechunker", REENCODE],
    "C": [*OURS, "ts-pull", "ts-loop", "z5py", "ts-naive", "zarr-python"],
    "D1": [*OURS, "ts-pull", "ts-naive", "z5py", "ts-loop", COPY, REENCODE],
    "D2": [*OURS, "z5py", "ts-naive", "ts-pull", "ts-loop", "rechunker", REENCODE],
    "D2Z": [*OURS, "z5py", "ts-naive", "ts-loop", "rechunker", REENCODE],
    "E": [*OURS, "z5py", "ts-pull", "ts-naive", "dask", "rechunker", REENCODE],
    "E2": [*OURS, "z5py", "ts-pull", "ts-naive", "rechunker", REENCODE],
    "F1": [*OURS, "memmap", "z5py", "ts-loop", "seek"],
    "F2": [*OURS, "memmap", "z5py", "ts-loop", "seek"],
    "F3": [*OURS, "memmap", "z5py", "ts-loop", "seek"],
    "G": [*OURS, "ts-loop", "ts-pull", "ts-naive", "zarr-python", "dask", "rechunker"],
    "H": [*OURS, "ts-naive", "ts-loop", REENCODE],
}
# Those that are fast in most shapes.
BY_SHAPE = ["rechunk", "z5py", "ts-naive", REENCODE]


def listed(numbers):
    return ",".join(map(str, numbers))


def command(contestant, case, case_json, source, target, temporary, rechunk):
    """The words that run `contestant`."""
    wanted = case["dst"]
    if contestant in (*OURS, BEFORE):
        source, form = (raw.source(source), "raw") if case["raw"] else (source, wanted["format"])
        words = [rechunk, "copy", source, target, "--quiet", "--format", form, "--chunks", listed(wanted["chunks"])]
        words += [] if case["raw"] else ["--codec", codec(wanted["codec"])]
        words += ["--max-mem", str(case["mem"]), "--threads", str(THREADS), "--temp", temporary]
        words += ["--shards", listed(wanted["shards"])] if wanted["shards"] else []
        return words + (["--no-fsync"] if contestant in ("rechunk", BEFORE) else [])
    if contestant == COPY:
        os.makedirs(os.path.dirname(target))
        return ["cp", "-r", source, target]
    if contestant == REENCODE:
        # Half of the memory for decoded chunks, which it would decode again for each that they meet; the rest for its work.
        shards = wanted["shards"] or wanted["chunks"]
        codecs = [codec for codec in tsutil.v3_codecs(wanted["codec"], case["dtype"]) if codec["name"] != "bytes"]
        return [REENCODE_PROGRAM, "--chunk-shape", listed(wanted["chunks"]), "--shard-shape", listed(shards),
                "--bytes-to-bytes-codecs", json.dumps(codecs), "--cache-size", str(case["mem"] // 2), source, target]
    environment, words = CONTESTANTS[contestant]
    script, *arguments = words.split()
    return [str(ROOT / environment / "bin/python"), "-W", "ignore", str(HERE / "peers" / script), *arguments, "--case-json", case_json,
            "--src", source, "--dst", target, "--tmp", temporary, "--mem", str(case["mem"]), "--threads", str(THREADS)]


def codec(wanted):
    """A codec in the words of `rechunk copy --codec`."""
    if wanted is None:
        return "none"
    if wanted["id"] == "blosc":
        shuffle = ["noshuffle", "shuffle", "bitshuffle"][wanted["shuffle"]]
        return f"blosc:{wanted['cname']}:{wanted['clevel']}:{shuffle}"
    return f"{wanted['id']}:{wanted['level']}"
