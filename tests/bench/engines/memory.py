"""Memory of the processes below one: the peak of each, and of all together."""

import os
import re
import threading

from process import tree

# Each sample reads a few files of /proc, of a dozen processes.
INTERVAL_SECONDS = 0.1


def field(pid, file, name):
    """A number of kB in a file of /proc, as bytes; 0 where the process has gone."""
    try:
        with open(f"/proc/{pid}/{file}", "rb") as text:
            found = re.search(rb"^%s:\s+(\d+) kB" % name.encode(), text.read(), re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    except OSError:
        return 0


class Peaks(threading.Thread):
    """Looks again and again at all processes below `pid`.

    `worker` is the largest resident memory that one of them has ever had, by the system's own count (`VmHWM`): the first process,
    which drives, is apart (`driver`). `together` is the sum of all, where a page that several share is divided among them (`Pss`).
    """

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.ended = pid, threading.Event()
        self.driver = self.worker = self.together = 0

    def run(self):
        while not self.ended.wait(INTERVAL_SECONDS):
            pids = tree(self.pid)
            self.driver = max(self.driver, field(self.pid, "status", "VmHWM"))
            self.worker = max([self.worker, *(field(pid, "status", "VmHWM") for pid in pids if pid != self.pid)])
            self.together = max(self.together, sum(field(pid, "smaps_rollup", "Pss") for pid in pids))
