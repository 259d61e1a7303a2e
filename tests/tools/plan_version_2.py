#!/usr/bin/env python3
"""Makes fixtures/plan_version_2: saved plans, and jobs that were killed, in version 2 of the plan's form.

    plan_version_2.py RECHUNK KILLPOINT

RECHUNK is a program that writes that form, the last of which was built from commit 017f623f; KILLPOINT is
tests/tools/killpoint.c, compiled. Needs nothing but Python.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

RECHUNK, KILLPOINT = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
ROOT = Path(__file__).resolve().parents[2] / "fixtures" / "plan_version_2"
SHAPE = (24, 18)


def value(row, column):
    return (row * 251 + column * 13) % 65521


def write_json(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document) + "\n")


def chunk(rows, columns, shape):
    """Elements of a chunk that begins at rows.start, columns.start, padded with zeros to `shape`."""
    data = bytearray()
    for row in range(rows.start, rows.start + shape[0]):
        for column in range(columns.start, columns.start + shape[1]):
            inside = row in rows and column in columns
            data += struct.pack("<H", value(row, column) if inside else 0)
    return bytes(data)


def cut(extent, chunk_extent):
    return [range(at, min(at + chunk_extent, extent)) for at in range(0, extent, chunk_extent)]


def v2_array(path, shape, chunks):
    write_json(path / ".zarray", {
        "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<u2", "compressor": None,
        "fill_value": 0, "order": "C", "filters": None, "dimension_separator": ".",
    })
    for i, rows in enumerate(cut(shape[0], chunks[0])):
        for j, columns in enumerate(cut(shape[1], chunks[1])):
            (path / f"{i}.{j}").write_bytes(chunk(rows, columns, chunks))


def v3_array(path, lengths):
    """An array whose rows are cut in chunks of `lengths`, its columns in two."""
    write_json(path / "zarr.json", {
        "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": "uint16",
        "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [lengths, 9]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0, "attributes": {},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    })
    start = 0
    for i, length in enumerate(lengths):
        for j, columns in enumerate(cut(SHAPE[1], 9)):
            key = path / "c" / str(i) / str(j)
            key.parent.mkdir(parents=True, exist_ok=True)
            key.write_bytes(chunk(range(start, start + length), columns, (length, 9)))
        start += length


def npy(path, shape):
    header = f"{{'descr': '<u2', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust((len(header) + 11 + 63) // 64 * 64 - 11) + "\n"
    data = chunk(range(shape[0]), range(shape[1]), shape)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def run(folder, *arguments, killed_at=None, check=True):
    command = [RECHUNK, *arguments]
    if killed_at is not None:
        options = ["--prefix", str(folder), "--log", "/dev/null", "--at", str(killed_at), "--slow", "30000"]
        command = [KILLPOINT, *options, "--", *command]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if check and done.returncode != (0 if killed_at is None else 137):
        sys.exit(f"{folder.name}: {command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def sources(folder):
    v2_array(folder / "plain.zarr", SHAPE, (6, 6))
    v3_array(folder / "lengths.zarr", [5, 8, 2, 9])
    npy(folder / "file.npy", SHAPE)
    arguments = ["--format", "zarr3", "--chunks", "6,6", "--shards", "12,18"]
    run(folder, "copy", "plain.zarr", "shards.zarr", *arguments)
    run(folder, "copy", "plain.zarr", "blocks.n5", "--chunks", "6,6")


def group(path):
    write_json(path / ".zgroup", {"zarr_format": 2})
    for name in "abc":
        v2_array(path / name, SHAPE, (6, 6))


# name: source, options
PLANS = {
    "direct": ("plain.zarr", ["--chunks", "12,6", "--strategy", "direct"]),
    "keep": ("plain.zarr", ["--chunks", "5,9", "--strategy", "keep"]),
    "pull": ("plain.zarr", ["--chunks", "5,9", "--strategy", "pull"]),
    "push-pull": ("plain.zarr", ["--chunks", "24,1", "--strategy", "push-pull"]),
    "multistage": ("plain.zarr", ["--chunks", "24,1", "--strategy", "multistage"]),
    "memory": ("plain.zarr", ["--chunks", "24,1", "--strategy", "memory"]),
    "passthrough": ("plain.zarr", ["--chunks", "keep", "--strategy", "passthrough"]),
    "raw-runs": ("file.npy", ["--format", "npy", "--chunks", "24,18", "--strategy", "keep"]),
    "shards": ("plain.zarr", ["--format", "zarr3", "--chunks", "4,6", "--shards", "12,18"]),
    "of-shards": ("shards.zarr", ["--format", "zarr3", "--chunks", "24,3", "--shards", "none"]),
    "whole-shards": ("shards.zarr", ["--chunks", "keep", "--strategy", "passthrough"]),
    "lengths": ("lengths.zarr", ["--chunks", "10,6"]),
    "region": ("plain.zarr", ["--region", "3:27,2:20"]),
    "absence": ("blocks.n5", ["--format", "zarr3", "--chunks", "24,1", "--strategy", "push-pull"]),
}
# name: source, options, the call that the run is killed at
JOBS = {
    "killed-array": ("plain.zarr", ["--chunks", "5,9", "--strategy", "pull"], 53),
    "killed-stages": ("plain.zarr", ["--chunks", "24,1", "--strategy", "push-pull"], 40),
    "killed-group": ("group.zarr", ["--chunks", "12,6"], 120),
}


def main():
    if ROOT.exists():
        shutil.rmtree(ROOT)
    plans = ROOT / "plans"
    plans.mkdir(parents=True)
    sources(plans)
    for name, (source, options) in PLANS.items():
        target = "out.npy" if source == "file.npy" else "out.zarr"
        if name == "region":
            target = "region.zarr"
            v2_array(plans / target, (30, 20), (7, 8))
        options = [*options, "--threads", "2", "--max-mem", "64MiB"]
        run(plans, "plan", source, target, *options, "--out", f"{name}.json")
    for name, (source, options, at) in JOBS.items():
        folder = ROOT / name
        folder.mkdir(parents=True)
        if source == "group.zarr":
            group(folder / source)
        else:
            v2_array(folder / source, SHAPE, (6, 6))
        command = ["copy", source, "out.zarr", *options, "--threads", "1", "--max-mem", "64MiB"]
        run(folder, *command, killed_at=at)
        write_json(folder / "command.json", command)


main()
