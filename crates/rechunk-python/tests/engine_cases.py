"""Starts engines for tests. As a program it is a driver, which may be killed:

    engine_cases.py ENGINE PLAN.json [PARTS]     kills itself when so many parts of stage 1 are done
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

HERE = ("threads", "processes", "a thread pool", "a process pool", "a forked pool")
"""Engines that need nothing."""
PACKAGES = {
    "dask": "distributed",
    "ray": "ray",
    "spark": "pyspark",
    "beam": "apache_beam",
    "lithops": "lithops",
    "parsl": "parsl",
}
NAMES = (*HERE, *PACKAGES, "slurm")
LITHOPS = {
    "lithops": {"backend": "localhost", "storage": "localhost", "telemetry": False, "log_level": "ERROR"},
    "localhost": {"runtime": sys.executable, "worker_processes": 2},
}


def lacks(name: str) -> str | None:
    """Says why an engine cannot be tested here."""
    if name == "slurm":
        return None if os.environ.get("SLURM_HERE") else "no Slurm was started (tests/engines/with_slurm.sh)"
    package = PACKAGES.get(name)
    return None if package is None or find_spec(package) else f"the package {package} is not installed"


@contextmanager
def started(name: str) -> Iterator[Any]:
    """Gives an object of the engine's, with two workers; where there is none, its name."""
    if name in ("threads", "processes"):
        yield name
    elif name == "a thread pool":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    elif name in ("a process pool", "a forked pool"):
        kind = "fork" if "fork" in name else "spawn"
        with ProcessPoolExecutor(2, mp_context=get_context(kind)) as pool:
            yield pool
    elif name in PACKAGES:
        with globals()[f"_{name}"]() as found:
            yield found
    else:
        from rechunk.engines.slurm import Slurm

        with tempfile.TemporaryDirectory() as folder:
            yield Slurm(folder, ["--time=5"])
            assert not os.listdir(folder), "work files, which may hold secrets, are removed"


@contextmanager
def _dask() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=2, host="127.0.0.1", **settings) as cluster, Client(cluster) as client:
        yield client


@contextmanager
def _ray() -> Iterator[Any]:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    with ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20
    ) as context:
        yield context


@contextmanager
def _spark() -> Iterator[Any]:
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for name in ("host", "bindAddress"):
        builder = builder.config(f"spark.driver.{name}", "127.0.0.1")
    session = builder.getOrCreate()
    yield session
    session.stop()


@contextmanager
def _beam() -> Iterator[Any]:
    from apache_beam.options.pipeline_options import PipelineOptions

    runner = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"
    processes = ["--direct_running_mode=multi_processing", "--direct_num_workers=2"]
    yield PipelineOptions([f"--runner={runner}", *processes])


@contextmanager
def _lithops() -> Iterator[Any]:
    from lithops import FunctionExecutor

    with FunctionExecutor(config=LITHOPS) as executor:
        yield executor


@contextmanager
def _parsl() -> Iterator[Any]:
    import parsl
    from parsl.config import Config
    from parsl.executors import HighThroughputExecutor
    from parsl.providers import LocalProvider

    commands = os.path.dirname(sys.executable)
    executor = HighThroughputExecutor(
        label="tests",
        max_workers_per_node=2,
        address="127.0.0.1",
        loopback_address="127.0.0.1",
        interchange_launch_cmd=[f"{commands}/interchange.py"],
        provider=LocalProvider(init_blocks=1, max_blocks=1, worker_init=f"export PATH={commands}:$PATH"),
    )
    folder = tempfile.mkdtemp()
    with parsl.DataFlowKernel(Config(executors=[executor], run_dir=folder, usage_tracking=0)) as kernel:
        yield kernel
    shutil.rmtree(folder, ignore_errors=True)


def main(name: str, plan: str, dies_at: str = "never") -> None:
    """Is a driver: has an engine do a plan, and says how many parts were done."""
    import rechunk

    def told(state: dict[str, Any]) -> None:
        if state["stage_number"] == 1 and str(state["parts_done"]) == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    saved = rechunk.Plan.from_json(Path(plan).read_text())
    if name in ("dask", "a process pool"):
        with started(name) as executor:
            report = saved.execute(executor, parts=5, progress=told)
    else:  # as its name starts it
        report = saved.execute(name, parts=5, progress=told)
    print("parts:", report["parts"]["count"])


if __name__ == "__main__":
    main(*sys.argv[1:])
