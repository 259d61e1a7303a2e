"""Measures what a plan of a million tasks costs Dask, and the import: ratios of one run.

    measure_dask.py     in the environment of the tests

Workers do nothing but return a report: what is measured is the graph, and how fast Dask takes it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import rechunk
import zarr
from rechunk.engines import worker
from rechunk.engines.driver import PARTS_MAX

SHAPE, CHUNKS = (1000, 1000, 1000), (1, 1000, 1000)


def nothing(share: int, *, work: str, stage: int, of: int) -> str:
    return '{"share": %d}' % share


def million(folder: Path) -> rechunk.Plan:
    zarr.create_array(str(folder / "s.zarr"), shape=SHAPE, chunks=CHUNKS, dtype="u1")
    return rechunk.plan(folder / "s.zarr", folder / "t.zarr", chunks=(1000, 1, 1), box_bytes=1000, workers=1)


def main() -> None:
    from distributed import Client, LocalCluster
    from distributed.protocol import dumps

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = million(folder)
        tasks = [stage["tasks"] for stage in plan.report["plan"]["stages"]]
        work = worker.work_of(plan, {}, {})
        settings: dict[str, Any] = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
        with LocalCluster(n_workers=2, host="127.0.0.1", **settings) as cluster, Client(cluster) as client:
            shared = client.scatter(work, broadcast=True, hash=False)
            sent: list[int] = []
            send = client._send_to_scheduler

            def counted(message: Any) -> None:
                sent.append(sum(map(len, map(memoryview, dumps(message)))))
                send(message)

            client._send_to_scheduler = counted
            begun = time.perf_counter()
            numbers = {"work": shared, "stage": 0, "of": PARTS_MAX}
            futures = client.map(nothing, range(PARTS_MAX), **numbers, pure=False, key="part")
            while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) < PARTS_MAX:
                time.sleep(0.01)
            submitted = time.perf_counter() - begun
            client.gather(futures)
            done = time.perf_counter() - begun
        print(f"tasks {tasks}, parts {PARTS_MAX}, work {len(work)} bytes once, graph {max(sent)} bytes")
        print(f"submitting takes {submitted / done:.2f} of the time until all {PARTS_MAX} empty parts are done")
    times = {}
    for module in ("numpy", "rechunk"):
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        took = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(9)]
        times[module] = sorted(took)[4]
    print(f"import rechunk takes {times['rechunk'] / times['numpy']:.2f} of import numpy (median of 9)")
    print(f"(seconds of this run: submit {submitted:.2f}, import {times['rechunk']:.3f})")


if __name__ == "__main__":
    main()
