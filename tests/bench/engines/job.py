"""What the scripts of this directory share: their words, and the engines they start, with workers of one thread each."""

import argparse
import contextlib
import json
import time


def words():
    parser = argparse.ArgumentParser()
    for name in ("engine", "source", "target", "temp", "chunks", "codec", "max-mem"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--workers", type=int, required=True)
    given = parser.parse_args()
    given.chunks = tuple(map(int, given.chunks.split(",")))
    given.max_mem = int(given.max_mem)
    return given


@contextlib.contextmanager
def timed():
    """Prints how long the block takes, as JSON."""
    began = time.perf_counter()
    yield
    print(json.dumps({"seconds": time.perf_counter() - began}), flush=True)


@contextlib.contextmanager
def cluster(workers):
    """A client of Dask with worker processes on this machine. Their limit is far off: what they take is measured."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "memory_limit": "8GiB"}
    with LocalCluster(host="127.0.0.1", dashboard_address=None, **settings) as started, Client(started) as client:
        yield client


def beam_options(workers):
    """Options of the runner that is in the package of Beam, with worker processes. (The default asks the network for another.)"""
    from apache_beam.options.pipeline_options import PipelineOptions

    runner = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"
    return PipelineOptions([f"--runner={runner}", "--direct_running_mode=multi_processing", f"--direct_num_workers={workers}"])
