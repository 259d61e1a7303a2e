#!/usr/bin/env python3
"""Loads a datastore: many readers and writers of the same blocks for a while.

    tests/bench/load.py [--readers 100] [--writers 10] [--seconds 60] [--blocks 64]

Writers write whole blocks of one value each (64 x 64 x 64 uint16, lz4), again and again, to level 0 of a data set with four levels
that follow; readers read them and check that each is whole: of one value, of one writer's. It prints how many requests there were, the
failures, and the server's largest memory, and exits with 1 if a block was torn, a request failed, or the memory is above 256 MiB. Readers
and writers are threads of four processes. Needs only Python.
"""

import argparse
import http.client
import multiprocessing
import shutil
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from upload import LEVELS, SIDE, Server  # noqa: E402

PROCESSES = 4
HEADER = struct.pack(">3i", SIDE, SIDE, SIDE)
ABSENT = struct.pack(">3i", -1, -1, -1)
PEAK_MAX_MIB = 256


def block(value):
    """A block on the wire, all of one value."""
    return HEADER + struct.pack(">H", value) * SIDE**3


def is_whole(found):
    return found == ABSENT or (
        found[:12] == HEADER and found[12:] == found[12:14] * SIDE**3
    )


def work(host, path_of, blocks, role, numbers, seconds, results):
    """Threads of one role until the time is over; puts their counts and failures."""
    counts, failures, lock = [0], [], threading.Lock()
    end = time.monotonic() + seconds

    def run(number):
        connection = http.client.HTTPConnection(host, timeout=60)
        turn = number
        done = 0
        try:
            while time.monotonic() < end:
                turn = (turn * 31 + 7) % blocks
                if role == "write":
                    body = block(number * 1000 + done % 1000)
                    connection.request("POST", path_of.format(turn), body, {"Content-Type": "application/octet-stream"})
                else:
                    connection.request("GET", path_of.format(turn))
                answer = connection.getresponse()
                found = answer.read()
                if answer.status != 200:
                    raise RuntimeError(f"{answer.status} {found[:200]!r}")
                if role == "read" and not is_whole(found):
                    raise RuntimeError(f"block {turn} is torn")
                done += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
            with lock:
                failures.append(repr(error))
        with lock:
            counts[0] += done

    threads = [threading.Thread(target=run, args=(number,)) for number in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((role, counts[0], failures))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/rechunk")
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--writers", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--blocks", type=int, default=64)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-load-"))
    server = Server(options.program, folder / "root")
    try:
        name = server.create([SIDE * options.blocks, SIDE, SIDE], "lz4")
        levels = "/".join("/".join(map(str, level)) for level in LEVELS)
        written = server.place(f"/datasets/{name}/{levels}/write").rstrip("/")
        read = server.place(f"/datasets/{name}/1/1/1/latest/read-write").rstrip("/")
        results = multiprocessing.Queue()
        jobs = [("write", written, list(range(1, options.writers + 1)))]
        readers = list(range(1, options.readers + 1))
        jobs += [("read", read, readers[at :: PROCESSES - 1]) for at in range(PROCESSES - 1)]
        running = [
            multiprocessing.Process(
                target=work,
                args=(server.host, base + "/{}/0/0/0/0/0", options.blocks, role, numbers, options.seconds, results),
            )
            for role, base, numbers in jobs
        ]
        for one in running:
            one.start()
        found = [results.get() for _ in running]
        for one in running:
            one.join()
        peak = server.peak_mib()
    finally:
        server.stop()
        shutil.rmtree(folder)
    failures = [text for _, _, some in found for text in some]
    for role in ("read", "write"):
        print(f"{role}: {sum(count for kind, count, _ in found if kind == role)} requests in {options.seconds:g} s")
    print(f"failures: {len(failures)}{': ' + failures[0] if failures else ''}")
    print(f"server's peak: {peak:.0f} MiB of {PEAK_MAX_MIB}")
    sys.exit(bool(failures) or peak > PEAK_MAX_MIB)


if __name__ == "__main__":
    main()
