"""NumPy reads `.npy` files, and writes what it has read.

stdin:  JSON list of {"path", "copy"}
stdout: JSON list, in the same order, of {"sha256"} or {"error"}; the digest is that of read.py

`copy`.npy is written in C order, and `copy`-f.npy in Fortran order.
"""

import json
import sys

import numpy as np
from read import digest


def echo(job):
    try:
        numbers = np.load(job["path"], allow_pickle=False)
        np.save(f"{job['copy']}.npy", numbers)
        np.save(f"{job['copy']}-f.npy", np.asfortranarray(numbers))
        return {"sha256": digest(numbers)}
    except Exception as error:  # what NumPy does not take is an answer too
        return {"error": f"{type(error).__name__}: {error}"}


json.dump([echo(job) for job in json.load(sys.stdin)], sys.stdout)
