"""Is ten times the data ten times the work, and how long does it take to begin?

    just bench-linear [--sizes 0.1,1,10] [--reps 3]

The source of case A (one image a step) is made shorter or longer with hard links to its chunks, and re-cut into blocks of 48
steps with the same memory each time. Prints the median of wall and CPU time, each over that of the size before. Then how long
`rechunk --version` and `rechunk plan` take, of 20 runs each. Needs the disk for what the largest size writes: 4 GB.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from race import ROOT, prepare, run

STEP_BYTES = 720 * 1440 * 2
BUDGET = "318MiB"


def lengthened(source, steps, place):
    """The array at `source` with that many steps."""
    document = json.loads((source / ".zarray").read_text())
    have = document["shape"][0]
    document["shape"][0] = steps
    place.mkdir(parents=True)
    (place / ".zarray").write_text(json.dumps(document))
    for step in range(steps):
        os.link(source / f"{step % have}.0.0", place / f"{step}.0.0")
    return place


def measured(sizes, arguments):
    _, place = prepare("A", "medium", arguments.data)
    source, work = place / "src.zarr/v", arguments.data / "linear"
    shutil.rmtree(work, ignore_errors=True)
    steps = [max(48, round(size * 1e9 / STEP_BYTES / 48) * 48) for size in sizes]
    sources = {count: lengthened(source, count, work / f"{count}.zarr") for count in steps}
    runs = {count: [] for count in steps}
    for turn in range(arguments.reps):
        for count in steps:
            os.sync()
            words = [arguments.rechunk, "copy", str(sources[count]), str(work / f"out-{count}-{turn}.zarr"), "--chunks",
                     "48,120,120", "--max-mem", BUDGET, "--no-fsync", "-q"]
            result = run(words, 600, work / "log")
            if result["code"] != 0:
                sys.exit((work / "log").read_text())
            runs[count].append(result)
    print("| GB of elements | wall s | CPU s | peak MiB | data | wall | CPU |\n|---|---|---|---|---|---|---|")
    before = None
    for count in steps:
        of = lambda key: statistics.median(each[key] for each in runs[count])
        now = (count, of("wall"), of("cpu"))
        grown = [f"× {a / b:.2f}" for a, b in zip(now, before)] if before else [""] * 3
        print(f"| {count * STEP_BYTES / 1e9:.2f} | {now[1]:.2f} | {now[2]:.2f} | {of('rss') / 2**20:.0f} | {' | '.join(grown)} |")
        before = now
    plan = [arguments.rechunk, "plan", str(sources[steps[-1]]), str(work / "none.zarr"), "--chunks", "48,120,120", "--max-mem", BUDGET]
    for name, words in [("--version", [arguments.rechunk, "--version"]), ("plan", plan)]:
        print(f"\n`rechunk {name}`: {1000 * start_up(words):.0f} ms (median of 20).")
    shutil.rmtree(work)


def start_up(words):
    seconds = []
    for _ in range(20):
        begun = time.perf_counter()
        subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: [float(size) for size in text.split(",")], default=[0.1, 1, 10], help="GB")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target/bench-data", help="generated data; kept")
    parser.add_argument("--rechunk", default=str(ROOT / "target/release/rechunk"))
    arguments = parser.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    measured(arguments.sizes, arguments)


if __name__ == "__main__":
    main()
