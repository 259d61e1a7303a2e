#!/usr/bin/env python3
"""Uploads a volume to the datastore with and without levels that follow it, and as plain files.

    tests/bench/upload.py [--mib 256] [--blocks 16] [--writers 2] [--reps 5]

Each repetition writes the same blocks (64 x 64 x 64 uint16, noise over a gradient) three ways, one
after the other: to `1/1/1` of a data set; to `1/1/1/2/2/1/4/4/2/8/8/4/write` of one with these four
levels; and as files of the same bytes that are written, synced, renamed, and their directory synced.
It prints ratios of one run, and the server's largest memory. Needs only Python.
"""

import argparse
import http.client
import json
import os
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

SIDE = 64
LEVELS = [[1, 1, 1], [2, 2, 1], [4, 4, 2], [8, 8, 4]]


def block_bytes(seed):
    """A block as it is on the wire: sizes, then big-endian elements."""
    noise = random.Random(seed).randbytes(SIDE**3)
    elements = bytearray(2 * SIDE**3)
    elements[1::2] = noise
    elements[0::2] = bytes([seed % 13]) * SIDE**3
    return struct.pack(">3i", SIDE, SIDE, SIDE) + bytes(elements)


class Server:
    def __init__(self, program, root, words=("datastore", "--write")):
        command = [program, "serve", *words[:1], root, *words[1:], "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self.process.stdout.readline()
        if not line.startswith("listening on http://"):
            sys.exit(f"the server did not start: {line!r}")
        self.host = urlsplit(line.split()[-1]).netloc

    def ask(self, method, path, body=b"", kind=None):
        connection = http.client.HTTPConnection(self.host)
        connection.request(method, path, body, {"Content-Type": kind} if kind else {})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 307):
            sys.exit(f"{method} {path}: {answer.status} {text!r}")
        return answer, text

    def create(self, shape, compression):
        description = {
            "voxelType": "uint16",
            "dimensions": shape,
            "compression": compression,
            "resolutionLevels": [
                {"resolutions": level, "blockDimensions": [SIDE] * 3} for level in LEVELS
            ],
        }
        body = json.dumps(description).encode()
        return self.ask("POST", "/datasets", body, "application/json")[1].decode()

    def place(self, path):
        location = self.ask("GET", path)[0].getheader("Location")
        return urlsplit(location).path

    def peak_mib(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def in_threads(jobs, count, work):
    """Seconds that `count` threads take for all jobs; each gets a maker of its own."""
    queue, lock, failures = list(reversed(jobs)), threading.Lock(), []

    def run():
        try:
            do = work()
            while True:
                with lock:
                    if not queue:
                        return
                    job = queue.pop()
                do(job)
        except BaseException as error:  # noqa: BLE001 - said by the caller
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit(f"failed: {failures[0]!r}")
    return time.perf_counter() - begin


def uploader(server, base, blocks):
    def work():
        connection = http.client.HTTPConnection(server.host)

        def send(group):
            path = base + "/".join(f"{x}/{y}/{z}/0/0/0" for x, y, z in group)
            body = b"".join(blocks[(x + y + z) % len(blocks)] for x, y, z in group)
            connection.request(
                "POST", path, body, {"Content-Type": "application/octet-stream"}
            )
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{answer.status} {text!r}")

        return send

    return work


def file_writer(root, blocks):
    def work():
        def send(group):
            for x, y, z in group:
                folder = root / f"{x}" / f"{y}"
                folder.mkdir(parents=True, exist_ok=True)
                staged = folder / f".{z}.tmp"
                with open(staged, "wb") as file:
                    file.write(blocks[(x + y + z) % len(blocks)])
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(staged, folder / str(z))
                directory = os.open(folder, os.O_RDONLY)
                os.fsync(directory)
                os.close(directory)

        return send

    return work


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="target/release/rechunk")
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--blocks", type=int, default=16, help="blocks of a request")
    parser.add_argument("--cubes", action="store_true", help="4 x 2 x 2 neighbours, not rows of x")
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--compression", default="raw")
    options = parser.parse_args()

    count = max(1, options.mib * 2**20 // (2 * SIDE**3))
    along = [16, 8, max(1, count // 128)]
    positions = [(x, y, z) for z in range(along[2]) for y in range(along[1]) for x in range(along[0])]
    if options.cubes:
        positions.sort(key=lambda at: (at[2] // 2, at[1] // 2, at[0] // 4, at))
    groups = [positions[at : at + options.blocks] for at in range(0, len(positions), options.blocks)]
    blocks = [block_bytes(seed) for seed in range(17)]
    shape = [SIDE * blocks_along for blocks_along in along]
    times = {"finest": [], "levels": [], "files": []}
    work = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR", "."), prefix="bench-upload-"))
    try:
        server = Server(options.program, work / "root")
        for _ in range(options.reps):
            for way, path in [
                ("finest", "1/1/1/latest/read-write"),
                ("levels", "/".join("/".join(map(str, level)) for level in LEVELS) + "/write"),
            ]:
                name = server.create(shape, options.compression)
                base = server.place(f"/datasets/{name}/{path}")
                send = uploader(server, base, blocks)
                times[way].append(in_threads(groups, options.writers, send))
                server.ask("DELETE", f"/datasets/{name}")
            plain = work / "files"
            times["files"].append(in_threads(groups, options.writers, file_writer(plain, blocks)))
            shutil.rmtree(plain)
        peak = server.peak_mib()
        server.stop()
    finally:
        shutil.rmtree(work)

    def ratio(way, other):
        all_of = [a / b for a, b in zip(times[way], times[other])]
        return f"{statistics.median(all_of):.2f} ({min(all_of):.2f}-{max(all_of):.2f})"

    mib = len(positions) * 2 * SIDE**3 / 2**20
    print(f"{mib:.0f} MiB in {len(groups)} requests of {options.blocks} blocks, {options.compression}")
    print({way: round(statistics.median(taken), 2) for way, taken in times.items()}, "seconds, medians")
    print(f"with levels / without:        {ratio('levels', 'finest')}")
    print(f"plain files / blocks stored:  {ratio('files', 'finest')}   (writes reach this share)")
    print(f"server's peak: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
