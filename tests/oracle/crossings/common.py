"""Shared by the programs of this directory, each of which writes with one library and reads with it again.

    NAME.py write DIRECTORY   writes sources; answers with them as JSON
    NAME.py read              reads targets named on standard input; answers with what they hold

A source is `{"name", "source", "options", "digest"}`: where it is below DIRECTORY, the options of a copy that cuts it
anew, and what the library has put into it. A target is `{"name", "path"}`, and `{"digest"}` or `{"error"}` answers it.
"""

import hashlib
import json
import os
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")


def digest(*arrays):
    """SHA-256 of shapes and elements, little-endian, in C order."""
    found = hashlib.sha256()
    for array in arrays:
        array = np.asarray(array)
        if array.dtype.kind in "OUT":
            lines = [str(element) for element in array.ravel().tolist()]
            found.update(json.dumps([list(array.shape), lines]).encode())
            continue
        if array.dtype.kind in "mM":
            array = array.astype("i8")
        array = array.astype(array.dtype.newbyteorder("<"), order="C")
        found.update(f"{array.shape} {array.dtype.str}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def numbers(shape, dtype, start=0):
    """Elements that are all different, as far as the type allows."""
    count = int(np.prod(shape))
    return ((np.arange(count) + start) % 251).astype(dtype).reshape(shape)


def main(version, write, read):
    """Runs what the command line asks for."""
    if sys.argv[1] == "write":
        answer = {"version": version, "cases": write(os.path.normpath(sys.argv[2]))}
    else:
        answer = []
        for target in json.load(sys.stdin):
            try:
                answer.append({"digest": read(target["name"], target["path"])})
            except Exception as error:  # whatever it is, it is the answer
                answer.append({"error": f"{type(error).__name__}: {error}"[:500]})
    json.dump(answer, sys.stdout)
