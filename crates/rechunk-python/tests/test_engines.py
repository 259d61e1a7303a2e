"""One plan on several engines: the same stores, the same traffic; workers and drivers that die."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import rechunk
from conftest import BUCKET, files
from rechunk.engines import run_part, worker

Cli = Callable[..., dict[str, Any]]
OPTIONS: dict[str, Any] = {
    "chunks": (-1, 16, 16),
    "strategy": "push-pull",
    "max_mem": 2_700_000,
    "threads": 1,
    "workers": 2,
}
WORDS = ["--chunks=-1,16,16", "--strategy=push-pull", "--max-mem=2700000", "--threads=1", "--workers=2"]


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster, Client(cluster) as client:
        yield client


def engines(client: Any) -> dict[str, Callable[[], Any]]:
    return {
        "threads": lambda: "threads",
        "a thread pool": lambda: ThreadPoolExecutor(2),
        "a process pool": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
        "a forked pool": lambda: ProcessPoolExecutor(2, mp_context=get_context("fork")),
        "dask": lambda: client,
    }


def planned_and_run(cli: Cli, source: Any, target: Any, folder: Path) -> dict[str, Any]:
    """A plan for as many workers, run by one process of the command line."""
    plan = folder / "plan.json"
    cli("plan", source, target, *WORDS, "--out", plan)
    return cli("run", plan)


def moved(report: dict[str, Any]) -> dict[str, Any]:
    """What was counted of chunks: not looks at the target, of which each worker has its own."""
    return {role: report["traffic"][role] for role in ("source", "intermediate", "target")}


def test_every_engine_makes_what_the_command_line_makes(
    cube: Path, tmp_path: Path, cli: Cli, client: Any
) -> None:
    whole = planned_and_run(cli, cube, tmp_path / "cli.zarr", tmp_path)
    for number, (name, engine) in enumerate(engines(client).items()):
        target = tmp_path / f"{number}.zarr"
        executor = engine()
        told: list[dict[str, Any]] = []
        report = rechunk.plan(cube, target, **OPTIONS).execute(executor, parts=5, progress=told.append)
        if isinstance(executor, Executor):
            executor.shutdown()
        assert files(target) == files(tmp_path / "cli.zarr"), name
        assert moved(report) == moved(whole), name
        assert report["parts"]["count"] == sum(min(5, stage["tasks"]) for stage in whole["plan"]["stages"]) > 5
        assert told[-1]["tasks_done"] == told[-1]["tasks_total"], name
        assert not (tmp_path / f"{number}.zarr.rechunk").exists()


def test_engines_reach_object_stores(
    cube: Path, tmp_path: Path, cli: Cli, client: Any, s3: dict[str, str]
) -> None:
    base = f"s3://{BUCKET}"
    # Workers were started with another environment: what they need to reach the store goes with the plan.
    store = {
        "endpoint": s3["AWS_ENDPOINT"],
        "region": s3["AWS_REGION"],
        "access_key_id": s3["AWS_ACCESS_KEY_ID"],
        "secret_access_key": s3["AWS_SECRET_ACCESS_KEY"],
        "allow_http": "true",
    }
    rechunk.copy(cube, f"{base}/cube.zarr", store_option=store)
    whole = planned_and_run(cli, f"{base}/cube.zarr", f"{base}/cli.zarr", tmp_path)
    for number, name in enumerate(("threads", "a process pool", "dask")):
        engine, target = engines(client)[name], f"{base}/{number}.zarr"
        plan = rechunk.plan(f"{base}/cube.zarr", target, store_option=store, **OPTIONS)
        assert "secret" not in plan.to_json()
        executor = engine()
        report = plan.execute(executor, parts=4)
        if isinstance(executor, Executor):
            executor.shutdown()
        assert moved(report) == moved(whole), name
        assert rechunk.verify(f"{base}/cli.zarr", target, store_option=store)["equal"], name


def dies_once(work: str, stage: int, index: int, of: int, *more: Any) -> str:
    """A worker that is killed in the middle of its first part."""
    flag = Path(os.environ["RECHUNK_TEST_DIES"])
    if index == 2 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_part(work, stage, index, of, *more)


def test_a_dead_worker_of_a_pool_is_survived(
    cube: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECHUNK_TEST_DIES", str(tmp_path / "died"))
    monkeypatch.setattr("rechunk.engines.futures.run_part", dies_once)
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS).execute(pool, parts=5)
    assert (tmp_path / "died").exists()
    assert rechunk.verify(cube, tmp_path / "t.zarr")["equal"]


def test_a_dead_worker_of_dask_is_survived(
    cube: Path, tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag = str(tmp_path / "died")

    def dies(share: int, *, work: str, stage: int, of: int) -> str:
        import os
        import signal

        from rechunk.engines import run_part

        if share == 2 and not os.path.exists(flag):
            open(flag, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return run_part(work, stage, share, of)

    monkeypatch.setattr("rechunk.engines.dask._part", dies)
    rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS).execute(client, parts=5)
    assert os.path.exists(flag)
    assert rechunk.verify(cube, tmp_path / "t.zarr")["equal"]


def test_a_dead_driver_goes_on(cube: Path, tmp_path: Path) -> None:
    target = tmp_path / "t.zarr"
    (tmp_path / "plan.json").write_text(rechunk.plan(cube, target, **OPTIONS).to_json())
    program = f"""
import os, signal, rechunk
def told(state):
    if state["stage_number"] == 1 and state["parts_done"] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
plan = rechunk.Plan.from_json(open({str(tmp_path / "plan.json")!r}).read())
plan.execute("threads", parts=5, progress=told)
"""
    died = subprocess.run([sys.executable, "-c", program], check=False)
    assert died.returncode == -signal.SIGKILL
    status = rechunk.status(target)
    assert status["parts"], status
    plan = rechunk.Plan.from_json((tmp_path / "plan.json").read_text())
    report = plan.execute("threads", parts=5)
    assert report["parts"]["traffic"]["source"]["get_requests"] == 0, "stage 0 was marked"
    assert rechunk.verify(cube, target)["equal"]


def test_a_worker_refuses_what_it_cannot_do(cube: Path, tmp_path: Path) -> None:
    plan = rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS)
    plan.begin()
    work = json.loads(worker.work_of(plan, {}, {}))
    with pytest.raises(rechunk.UsageError, match="the same version"):
        run_part(json.dumps({**work, "plan_version": 1}), 0, 0, 1)
    elsewhere = {**work, "state": "/nowhere/t.rechunk", "target": "/nowhere/t.zarr"}
    with pytest.raises(rechunk.TargetError, match="workers reach"):
        run_part(json.dumps(elsewhere), 0, 0, 1)
    rechunk.clean(tmp_path / "t.zarr")
    for executor in ("threds", object()):
        with pytest.raises(rechunk.UsageError, match="dask"):
            rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS).execute(executor)


def test_errors_that_last_are_not_tried_again(cube: Path, tmp_path: Path) -> None:
    chunk = sorted(path for path in (cube / "c").rglob("*") if path.is_file())[0]
    chunk.write_bytes(b"not a chunk")
    plan = rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS)
    with pytest.raises(rechunk.SourceError) as raised, ProcessPoolExecutor(1) as pool:
        plan.execute(pool, parts=5)
    assert raised.value.key is not None, "it comes whole out of the other process"
