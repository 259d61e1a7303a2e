"""Runs scripts of this directory, each in a process of its own that has the usual libraries already.

    worker.py MODULE ...

Libraries take a second or two to import, and the end-to-end tests run hundreds of scripts: so a process imports the
modules once, and each script gets a copy of it (a fork). A module that is not installed is left to the script.

Standard input has the requests, standard output the answers, one after the other:

    request   a line of JSON: {"script": PATH, "arguments": [...], "bytes": N}, then N bytes of input
    answer    a line of JSON: {"status": N, "bytes": N}, then N bytes of output; a signal's status is negative
"""

import contextlib
import importlib
import json
import os
import runpy
import sys
import tempfile


def line():
    """The next line of standard input, without buffering what comes after it; empty at the end."""
    read = bytearray()
    while byte := os.read(0, 1):
        if byte == b"\n":
            break
        read += byte
    return bytes(read)


def exactly(length):
    """So many bytes of standard input."""
    read = bytearray()
    while len(read) < length:
        more = os.read(0, length - len(read))
        if not more:
            raise EOFError(f"{length} bytes were announced, {len(read)} came")
        read += more
    return bytes(read)


def run(script, arguments, given, taken):
    """Runs a script in this process, as `python SCRIPT ARGUMENTS <given >taken` would."""
    os.dup2(given.fileno(), 0)
    os.dup2(taken.fileno(), 1)
    sys.stdin = open(0, closefd=False)
    sys.stdout = open(1, "w", closefd=False)
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(script)
    runpy.run_path(script, run_name="__main__")
    sys.stdout.flush()


def serve():
    while request := line():
        request = json.loads(request)
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as taken:
            given.write(exactly(request["bytes"]))
            given.flush()
            given.seek(0)
            child = os.fork()
            if child == 0:
                return run(request["script"], request["arguments"], given, taken)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            taken.seek(0)
            output = taken.read()
        answer = json.dumps({"status": status, "bytes": len(output)}).encode() + b"\n" + output
        with open(1, "wb", closefd=False) as answers:
            answers.write(answer)


for name in sys.argv[1:]:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
serve()
