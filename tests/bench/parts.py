"""What parts cost, and what they bring: one plan by one process, and by several.

    just bench-parts [--cases a,b,c] [--reps 5] [--size full]

a    case A of the race (full shuffle, int16, blosc-lz4) as one `rechunk copy`, as one `run` of a plan for 8 workers, and as 8 parts
     of that plan, one after the other: planning, begin and finish count
b    a third of it to zstd:9, which keeps the cores busy: one process with 2 threads, and 2 parts at once with a thread and half of
     the memory each
c    small chunks without a codec from S3 to S3, each answer 20 ms late: 1, 2, 4 and 8 processes with a part of each stage, a thread
     and --in-flight requests each: few, so that two cores can carry nine processes that wait. The efficiency is the speed-up of
     the stages over the number of processes; "all" counts begin and finish too, which are one process

In each repetition everybody runs once, in an order that rotates; ratios are of runs of one repetition, and what is printed is their
median, least and largest. The first target of each way is compared with what it has to be. No process waits for the disk.
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

import numpy as np

from race import ROOT, is_right, median, prepare, read_all, touch

from contestants import codec, listed  # beside what `race` imports
from server import Server

PARTS = 8
PROCESSES = (1, 2, 4, 8)
# Chunks of case c, 4 KiB each: eight of the source become eight of the target.
FROM, TO, EXTENT = (8, 64, 8), (8, 8, 64), 64
LATENCY_MS = 20
GOALS = {"a": ("at most", 1.03), "b": ("at least", 0.95), "c": ("at least", 0.9)}


def done(commands, environment=None):
    """Runs commands at once; their seconds. Ends this program if one fails."""
    began = time.perf_counter()
    processes = [subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**os.environ, **(environment or {})}) for words in commands]
    # Each prints little, so none waits for another to be read.
    told = [process.communicate() for process in processes]
    seconds = time.perf_counter() - began
    for words, process, (_, error) in zip(commands, processes, told):
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))} ended with {process.returncode}: {error.decode(errors='replace')}")
    return seconds, told[0][0]


def in_parts(program, request, count, plan, environment=None, at_once=True):
    """Plans for `count` workers and does each stage in that many parts; seconds of everything, and of the stages alone."""
    began = time.perf_counter()
    done([[program, "plan", *request, "--workers", count, "--out", plan, "--quiet"]], environment)
    _, told = done([[program, "run", plan, "--begin", "--no-fsync", "--json"]], environment)
    stages = [0.0]
    for stage in json.loads(told)["stages"]:
        parts = [[program, "run", plan, "--stage", stage["stage"], "--part", f"{part}/{count}", "--no-fsync", "--quiet"]
                 for part in range(count)]
        stages += [done(each, environment)[0] for each in ([parts] if at_once else [[part] for part in parts])]
    done([[program, "run", plan, "--finish", "--no-fsync", "--quiet"]], environment)
    return time.perf_counter() - began, sum(stages)


def local(name, arguments, size, ways, wanted=None):
    """Runs a case on local files. `ways` are functions of the request, a directory and the memory; seconds by way and repetition."""
    case, place = prepare("A", size, arguments.data)
    source, work = place / case["src"]["name"], arguments.data / f"parts/{name}"
    shutil.rmtree(work, ignore_errors=True)
    read_all(source)
    found, checked = {way: [] for way in ways}, set()
    for turn in range(arguments.reps):
        for way in rotated(list(ways), turn):
            folder = work / f"{turn}-{way}"
            folder.mkdir(parents=True)
            target = folder / "out.zarr/v"
            os.sync()
            touch(min(3 * case["raw_bytes"] + case["mem"], 8 << 30))
            request = [source, target, "--format", case["dst"]["format"], "--chunks", listed(case["dst"]["chunks"]),
                       "--codec", wanted or codec(case["dst"]["codec"]), "--temp", folder / "temp"]
            found[way].append(ways[way](request, folder, case["mem"]))
            print(f"  {name} {way}: {found[way][-1]:.2f} s", file=sys.stderr, flush=True)
            if way not in checked:
                checked.add(way)
                # With another codec the elements are compared by the program itself, as the reference has none.
                if wanted:
                    done([[arguments.rechunk, "verify", source, target, "--quiet"]])
                elif not is_right(place / "case-A.json", target):
                    raise SystemExit(f"{way}: wrong result at {target}")
    shutil.rmtree(work)
    return found


def case_a(arguments):
    def copy(request, _, memory):
        return done([[arguments.rechunk, "copy", *request, "--max-mem", memory, "--threads", 2, "--no-fsync", "--quiet"]])[0]

    def one_run(request, folder, memory):
        began = time.perf_counter()
        request = [*request, "--max-mem", memory, "--threads", 2]
        done([[arguments.rechunk, "plan", *request, "--workers", PARTS, "--out", folder / "plan.json", "--quiet"]])
        done([[arguments.rechunk, "run", folder / "plan.json", "--no-fsync", "--quiet"]])
        return time.perf_counter() - began

    def parts(request, folder, memory):
        request = [*request, "--max-mem", memory, "--threads", 2]
        return in_parts(arguments.rechunk, request, PARTS, folder / "plan.json", at_once=False)[0]

    found = local("a", arguments, arguments.size, {"copy": copy, "one run": one_run, "parts": parts})
    line("a", f"{PARTS} parts in turn / copy", found["parts"], found["copy"])
    line("a", f"{PARTS} parts in turn / one run of their plan", found["parts"], found["one run"], goal=False)


def case_b(arguments):
    def one(request, _, memory):
        return done([[arguments.rechunk, "copy", *request, "--max-mem", memory, "--threads", 2, "--no-fsync", "--quiet"]])[0]

    def parts(request, folder, memory):
        return in_parts(arguments.rechunk, [*request, "--max-mem", memory // 2, "--threads", 1], 2, folder / "plan.json")[0]

    size = {"full": "medium"}.get(arguments.size, arguments.size)
    found = local("b", arguments, size, {"one process": one, "2 parts": parts}, wanted="zstd:9")
    # A speed: how long one process takes, over how long they take.
    line("b", "speed of 2 parts at once / one process", found["one process"], found["2 parts"])


def case_c(arguments):
    shape = [arguments.slabs * FROM[0], EXTENT, EXTENT]
    elements = np.random.default_rng(45).integers(1, 256, shape, dtype="u1")
    work = arguments.data / "parts/c"
    shutil.rmtree(work, ignore_errors=True)
    write_source(elements, work / "src.zarr")
    all_of, stages = {count: [] for count in PROCESSES}, {count: [] for count in PROCESSES}
    for turn in range(arguments.reps):
        for count in rotated(list(PROCESSES), turn):
            server = Server(arguments.testkit, work, work / "src.zarr", LATENCY_MS)
            try:
                request = [server.source, server.target, "--format", "zarr2", "--chunks", listed(TO), "--codec", "none", "--max-mem",
                           "64MiB", "--threads", 1, "--concurrency", arguments.in_flight, "--separator", "."]
                whole, part = in_parts(arguments.rechunk, request, count, work / f"plan-{count}.json", server.environment)
                if turn == 0:
                    check(elements, server.written())
            finally:
                server.remove()
            all_of[count].append(whole)
            stages[count].append(part)
            print(f"  c {count} processes: {whole:.2f} s, of that the stages {part:.2f} s", file=sys.stderr, flush=True)
    shutil.rmtree(work)
    for count in PROCESSES[1:]:
        line("c", f"efficiency of {count} processes, stages", stages[1], stages[count], count, goal=count == PROCESSES[-1])
        line("c", f"efficiency of {count} processes, all", all_of[1], all_of[count], count, goal=False)


def write_source(elements, place):
    place.mkdir(parents=True)
    document = {"zarr_format": 2, "shape": elements.shape, "chunks": FROM, "dtype": "|u1", "compressor": None, "fill_value": 0,
                "order": "C", "filters": None}
    (place / ".zarray").write_text(json.dumps(document))
    for index, box in boxes(elements.shape, FROM):
        (place / ".".join(map(str, index))).write_bytes(elements[box].tobytes())


def check(elements, place):
    """Ends this program unless `place` has these elements in the chunks that were asked for."""
    for index, box in boxes(elements.shape, TO):
        if (place / ".".join(map(str, index))).read_bytes() != elements[box].tobytes():
            raise SystemExit(f"wrong result: chunk {index} of {place}")


def boxes(shape, chunk):
    for index in np.ndindex(*[extent // length for extent, length in zip(shape, chunk)]):
        yield index, tuple(slice(at * length, (at + 1) * length) for at, length in zip(index, chunk))


def rotated(names, turn):
    return names[turn % len(names):] + names[: turn % len(names)]


def line(case, what, some, others, count=1, goal=True):
    """Prints the ratio of two lists of seconds, by repetition; `count` divides it."""
    ratios = [a / b / count for a, b in zip(some, others)]
    kind, limit = GOALS[case]
    is_reached = median(ratios) <= limit if kind == "at most" else median(ratios) >= limit
    asked = f"{kind} {limit}: {'reached' if is_reached else 'missed'}" if goal else ""
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"| {case} | {what} | {statistics.median(ratios):.3f} | {spread} | {len(ratios)} | {asked} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=lambda text: text.split(","), default=["a", "b", "c"])
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--size", choices=["small", "medium", "full"], default="full", help="of case A's array in a and b")
    parser.add_argument("--slabs", type=int, default=500, help="eight chunks each in case c")
    parser.add_argument("--in-flight", type=int, default=2, help="requests of each process in case c")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target/bench-data", help="generated data; kept")
    parser.add_argument("--rechunk", default=str(ROOT / "target/release/rechunk"))
    parser.add_argument("--testkit", default=str(ROOT / "target/release/rechunk-testkit"))
    arguments = parser.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    print("| case | ratio | median | spread | repetitions | asked |\n|---|---|---|---|---|---|", flush=True)
    for case in arguments.cases:
        {"a": case_a, "b": case_b, "c": case_c}[case](arguments)


if __name__ == "__main__":
    main()
