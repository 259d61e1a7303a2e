"""An object store for cases that need one: `rechunk-testkit serve s3` on this machine, each answer later by some milliseconds."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

# Where there is a file system in memory the store is there: that of a disk makes files slowly under several writers, which would
# count for whoever waits for the store.
MEMORY = pathlib.Path("/dev/shm")
BUCKET = "rechunk-test"


class Server:
    """A store with the source in it; what it takes itself is not counted."""

    def __init__(self, program, work, source, latency_ms):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="race-", dir=MEMORY if os.access(MEMORY, os.W_OK) else work))
        shutil.copytree(source, self.root / BUCKET / source.name)
        self.source, self.target = f"s3://{BUCKET}/{source.name}", f"s3://{BUCKET}/out"
        self.process = subprocess.Popen(
            [program, "serve", "s3", "--root", self.root, "--latency-ms", str(latency_ms)], stdout=subprocess.PIPE, text=True)
        # Where it is, line by line; the last variable is the region by its other name.
        self.environment = {}
        for line in self.process.stdout:
            self.environment.update(re.findall(r"export (\w+)='(.*)'", line))
            if "AWS_DEFAULT_REGION" in self.environment:
                break

    def written(self):
        """The target, as files."""
        return self.root / BUCKET / "out"

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def remove(self):
        """What it has stored, which may lie in memory."""
        self.stop()
        shutil.rmtree(self.root)
