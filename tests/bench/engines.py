"""The same job from Python and on engines: against the command line, and against peers on the same engine.

    just bench-engines [--cases overhead,peers,import] [--reps 3] [--python python3.12]

overhead   2 GB (case A of the race, lengthened), full shuffle, int16, from blosc-lz4 to a codec that keeps the cores busy (--codec):
           `rechunk copy` with 2 threads, `rechunk.copy` from Python, and `Plan.execute` with threads, processes and a cluster of Dask,
           2 workers with a thread and half of the memory each
peers      1 GB, full shuffle, int16, blosc-lz4 in both: rechunker and cubed against ours on Dask, xarray-beam against ours on Beam;
           2 workers with a thread and --worker-mem each
import     `python -X importtime -c "import rechunk"`: of all that it imports

In each repetition everybody runs once, in an order that rotates; ratios are of runs of one repetition, and what is printed is their
median, least and largest. "job" is from the request to the end, in an engine that has been started (Beam starts its workers in it),
and decides; "process" is all of a program, also what starts Python and the engine. The first target of each is compared with the
elements. Nobody waits for the disk. Peaks of memory are of the system's count for each process, interpreter and libraries with it.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from linear import lengthened
from race import HERE, MIB, ROOT, is_right, median, prepare, read_all, touch

sys.path.insert(0, str(HERE / "engines"))

import venvs  # noqa: E402
from contestants import codec, listed  # noqa: E402
from memory import Peaks  # noqa: E402
from process import tree  # noqa: E402

WORKERS = 2
# Contestant: its environment, script and engine.
OVERHEAD = {name: (venvs.OURS, "ours.py", name) for name in ("copy", "threads", "processes", "dask")}
PEERS = {
    "ours on dask": (venvs.OURS, "ours.py", "dask"),
    "rechunker on dask": ("rechunker", "rechunker_peer.py", "dask"),
    "cubed on dask": ("cubed", "cubed_peer.py", "dask"),
    "ours on beam": (venvs.OURS, "ours.py", "beam"),
    "xarray-beam": ("xarray-beam", "xarray_beam_peer.py", "beam"),
}
AGAINST = {"rechunker on dask": "ours on dask", "cubed on dask": "ours on dask", "xarray-beam": "ours on beam"}
OVERHEAD_MAX, RATIO_MAX, IMPORT_MAX_MS, BESIDE_BYTES = 1.05, 0.2, 100, 64 * MIB
IMPORTS = 15


def measured(words, timeout, folder):
    """Runs a program: seconds of its job and of all of it, and peaks of memory; `None` for seconds if it did not succeed."""
    began = time.perf_counter()
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
    peaks = Peaks(process.pid)
    peaks.start()
    try:
        out, _ = process.communicate(timeout=timeout)
        whole = time.perf_counter() - began
    except subprocess.TimeoutExpired:
        for pid in reversed(tree(process.pid)):
            os.kill(pid, signal.SIGKILL)
        out, whole = process.communicate()[0], None
    peaks.ended.set()
    peaks.join()
    told = [line for line in out.decode(errors="replace").splitlines() if line.startswith('{"seconds"')]
    job = json.loads(told[-1])["seconds"] if told else whole
    failed = None
    if whole is None:
        failed = f"more than {timeout} s"
    elif process.returncode != 0:
        lines = (folder / "log").read_text(errors="replace").splitlines()
        said = [line for line in lines if line.strip() and not line.startswith("hint:")]
        failed = f"failed: {(said or ['?'])[-1][:200]}"
    return {"job": job, "process": whole, "failed": failed, "driver": peaks.driver, "worker": peaks.worker, "together": peaks.together}


def compare(name, arguments, source, contestants, right):
    """Runs all contestants --reps times; lists of what `measured` says, by contestant. `contestants` are functions of a directory that
    return words; `right` says whether a target is."""
    work = arguments.data / f"engines/{name}"
    shutil.rmtree(work, ignore_errors=True)
    read_all(source)
    runs, names = {}, list(contestants)
    for turn in range(arguments.reps):
        for who in names[turn % len(names):] + names[: turn % len(names)]:
            if runs.get(who, [{}])[-1].get("failed"):
                continue
            folder = work / f"{turn}-{who.replace(' ', '-')}"
            (folder / "temp").mkdir(parents=True)
            os.sync()
            touch(4 << 30)
            result = measured(contestants[who](folder), arguments.timeout, folder)
            if not result["failed"] and who not in runs and not right(folder / "out.zarr/v"):
                result["failed"] = "wrong result"
            runs.setdefault(who, []).append(result)
            took = result["failed"] or f"{result['job']:.2f} s, process {result['process']:.2f} s"
            print(f"  {name} {who}: {took}", file=sys.stderr, flush=True)
    shutil.rmtree(work)
    return runs


def script(arguments, contestant, source, shape, wanted):
    """A function of a directory: the words of a script of `engines/`."""
    environment, file, engine = contestant
    interpreter = venvs.python(arguments.venvs, environment, arguments.python)
    return lambda folder: [interpreter, "-W", "ignore", HERE / "engines" / file, "--engine", engine, "--source", source, "--target",
                           folder / "out.zarr/v", "--temp", folder / "temp", "--chunks", listed(shape), "--codec", wanted,
                           "--max-mem", arguments.worker_mem, "--workers", WORKERS]


def overhead(arguments):
    case, place = prepare("A", arguments.size, arguments.data)
    steps = round(arguments.gigabytes * 1e9 / (case["raw_bytes"] / case["shape"][0]))
    made = arguments.data / f"engines/source-{steps}.zarr"
    shutil.rmtree(made, ignore_errors=True)
    source = lengthened(place / case["src"]["name"], steps, made)
    shape = [steps, *case["dst"]["chunks"][1:]]

    def command_line(folder):
        return [arguments.rechunk, "copy", source, folder / "out.zarr/v", "--format", "zarr2", "--chunks", listed(shape), "--codec",
                arguments.codec, "--max-mem", WORKERS * arguments.worker_mem, "--threads", WORKERS, "--temp", folder / "temp",
                "--no-fsync", "-q"]

    contestants = {"command line": command_line}
    for name, contestant in OVERHEAD.items():
        contestants[name] = script(arguments, contestant, source, shape, arguments.codec)
    right = lambda target: subprocess.run([arguments.rechunk, "verify", source, target, "-q"]).returncode == 0
    runs = compare("overhead", arguments, source, contestants, right)
    shutil.rmtree(made)
    if (took := median([run["job"] for run in runs["command line"]])) < 20:
        print(f"\nThe command line took {took:.1f} s: a job of 20 s and more was meant; --codec, --gigabytes.", file=sys.stderr)
    print("| of the command line's time | job | spread | process | asked |\n|---|---|---|---|---|")
    for who in OVERHEAD:
        if failed := runs[who][-1]["failed"]:
            print(f"| {who} | {failed} | | | |")
            continue
        row(who, runs[who], runs["command line"], OVERHEAD_MAX)


def row(who, some, others, limit):
    """Prints ratios as a line of a table."""
    jobs, whole = (ratios(some, others, key) for key in ("job", "process"))
    spread = f"{min(jobs):.3f} to {max(jobs):.3f}"
    print(f"| {who} | {median(jobs):.3f} | {spread} | {median(whole):.3f} | {verdict(median(jobs), limit)} |", flush=True)


def ratios(some, others, key="job"):
    """Of runs of one repetition. Contestants of the command line have no job of their own: it is all of the process."""
    return [one[key] / other["process" if key == "process" else "job"] for one, other in zip(some, others)]


def verdict(found, limit):
    return f"at most {limit}: {'reached' if found <= limit else 'missed'}"


def peers(arguments):
    case, place = prepare("A", arguments.size, arguments.data)
    source, shape = place / case["src"]["name"], case["dst"]["chunks"]
    wanted = codec(case["dst"]["codec"])
    contestants = {who: script(arguments, each, source, shape, wanted) for who, each in PEERS.items()}
    runs = compare("peers", arguments, source, contestants, lambda target: is_right(place / "case-A.json", target))
    print("| | ours / theirs, job | spread | process | asked |\n|---|---|---|---|---|")
    for theirs, ours in AGAINST.items():
        if failed := [f"{who}: {runs[who][-1]['failed']}" for who in (theirs, ours) if runs[who][-1]["failed"]]:
            print(f"| {theirs} | {failed[0]} | | | |")
            continue
        row(theirs, runs[ours], runs[theirs], RATIO_MAX)
    limit = (arguments.worker_mem + BESIDE_BYTES) / MIB
    print(f"\nPeaks of memory in MiB, {arguments.worker_mem / MIB:.0f} allowed for each worker:\n")
    print("| | largest worker | driver | all together | asked |\n|---|---|---|---|---|")
    for who in PEERS:
        worker, driver, together = (max(run[key] for run in runs[who]) / MIB for key in ("worker", "driver", "together"))
        asked = verdict(worker, round(limit)) if who in AGAINST.values() else ""
        print(f"| {who} | {worker:.0f} | {driver:.0f} | {together:.0f} | {asked} |")


def imports(arguments):
    interpreter = venvs.python(arguments.venvs, venvs.OURS, arguments.python)

    def took():
        words = [interpreter, "-X", "importtime", "-c", "import rechunk"]
        told = subprocess.run(words, stderr=subprocess.PIPE, check=True, text=True).stderr
        return int(re.search(r"\|\s+(\d+) \| rechunk$", told, re.MULTILINE)[1]) / 1000

    took()  # so that it is compiled, and in the system's cache
    found = median([took() for _ in range(IMPORTS)])
    print(f"`import rechunk`: {'reached' if found < IMPORT_MAX_MS else 'missed'}: less than {IMPORT_MAX_MS} ms were asked, "
          f"{found / IMPORT_MAX_MS:.2f} of them are taken (median of {IMPORTS})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=lambda text: text.split(","), default=["overhead", "peers", "import"])
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--size", choices=["small", "medium", "full"], default="medium", help="of case A's array")
    parser.add_argument("--gigabytes", type=float, default=2, help="of elements in `overhead`")
    parser.add_argument("--codec", default="zstd:9", help="of the target in `overhead`")
    parser.add_argument("--worker-mem", type=int, default=167_000_000, help="bytes for each worker")
    parser.add_argument("--timeout", type=float, default=600, help="seconds until a contestant is out")
    python = os.environ.get("PYTHON", "python3")
    parser.add_argument("--python", default=python, help="CPython 3.12 for the environments: the pins are for it")
    parser.add_argument("--venvs", type=pathlib.Path, default=ROOT / "target/bench-venvs", help="environments; kept")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "target/bench-data", help="generated data; kept")
    parser.add_argument("--rechunk", default=str(ROOT / "target/release/rechunk"))
    parser.add_argument("--extension", default=str(ROOT / "target/release/lib_rechunk.so"), help="the Python package's, built")
    arguments = parser.parse_args()
    for directory in (arguments.venvs, arguments.data):
        directory.mkdir(parents=True, exist_ok=True)
    venvs.install_ours(venvs.python(arguments.venvs, venvs.OURS, arguments.python), arguments.extension, arguments.venvs / "wheel")
    for case in arguments.cases:
        {"overhead": overhead, "peers": peers, "import": imports}[case](arguments)
        print()


if __name__ == "__main__":
    main()
