"""A process and all below it: wall time, user+sys, peak of resident memory, bytes written."""

import ctypes
import os
import re
import signal
import subprocess
import threading
import time

# Grandchildren whose parent has gone are waited for here, so that their time counts.
ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)


def children(pid):
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found += [int(child) for child in file.read().split()]
    except OSError:
        pass
    return found


def tree(pid):
    found, left = [], [pid]
    while left:
        found.append(left.pop())
        left += children(found[-1])
    return found


def resident(pid):
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            found = re.search(rb"VmRSS:\s+(\d+)", file.read())
        return int(found[1]) * 1024 if found else 0
    except OSError:
        return 0


class Sampler(threading.Thread):
    """The peak of what the processes of a tree hold together, pages they share counted in each."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.ended, self.peak = pid, threading.Event(), 0

    def run(self):
        while not self.ended.wait(0.04):
            self.peak = max(self.peak, sum(resident(pid) for pid in tree(self.pid)))


def written():
    with open("/proc/self/io") as file:
        return int(next(line for line in file if line.startswith("wchar")).split()[1])


def run(words, timeout, log, environment=None, others=()):
    """Runs a program with more of an environment; `others` are children that are not of it."""
    before, began = written(), time.perf_counter()
    threads = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"], "1")
    with open(log, "wb") as out:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                   env={**os.environ, **threads, **(environment or {})})
    sampler = Sampler(process.pid)
    sampler.start()
    timer = threading.Timer(timeout, lambda: [os.kill(pid, signal.SIGKILL) for pid in reversed(tree(process.pid))])
    timer.start()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    timed_out = not timer.is_alive()
    timer.cancel()
    sampler.ended.set()
    sampler.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu, peak = used.ru_utime + used.ru_stime, max(sampler.peak, used.ru_maxrss * 1024)
    while left := set(children(os.getpid())) - set(others):
        _, _, more = os.wait4(left.pop(), 0)
        cpu += more.ru_utime + more.ru_stime
    return {"code": process.returncode, "timed_out": timed_out, "wall": wall, "cpu": cpu, "rss": peak, "written": written() - before}
