#!/usr/bin/env python3
"""How long a part of a plan of a million tasks takes to begin, and how much memory.

The source has metadata and one chunk in a thousand. The part has one task, so that nearly all of its time is its start.
Printed are the median and the least of a number of runs, and the largest peak.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TASKS = 1_000_000
METADATA = {"zarr_format": 2, "shape": [TASKS, 64], "chunks": [1, 64], "dtype": "<u2", "compressor": None,
            "fill_value": 0, "order": "C", "filters": None}


def run(words):
    """Seconds and peak (MiB) of a process."""
    started = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status != 0:
        raise SystemExit(f"{words} ended with {status}")
    return seconds, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rechunk", default=str(ROOT / "target/release/rechunk"))
    parser.add_argument("--reps", type=int, default=15)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="part-start-"))
    try:
        source, target, plan = folder / "s.zarr", folder / "t.zarr", folder / "plan.json"
        source.mkdir()
        (source / ".zarray").write_text(json.dumps(METADATA))
        for row in range(0, TASKS, 1000):
            (source / f"{row}.0").write_bytes(bytes([1]) * 128)
        run([arguments.rechunk, "plan", source, target, "--chunks", "1,64", "--codec", "zstd", "--strategy", "pull",
             "--workers", str(TASKS), "--max-mem", "64MiB", "--out", plan, "-q"])
        tasks = [stage["tasks"] for stage in json.loads(plan.read_text())["plan"]["stages"]]
        run([arguments.rechunk, "run", plan, "--begin", "-q"])
        runs = [run([arguments.rechunk, "run", plan, "--stage", "0", "--part", f"{1000 * number}/{TASKS}", "-q"])
                for number in range(arguments.reps)]
    finally:
        shutil.rmtree(folder)
    seconds = [seconds for seconds, _ in runs]
    print(f"{tasks} tasks: {statistics.median(seconds) * 1e3:.1f} ms, at least {min(seconds) * 1e3:.1f}; "
          f"peak {max(peak for _, peak in runs):.1f} MiB")


if __name__ == "__main__":
    main()
