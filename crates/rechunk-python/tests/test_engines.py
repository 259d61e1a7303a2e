"""One plan on several engines: the same stores, the same traffic; workers and drivers that die."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import engine_cases
import pytest
import rechunk
from conftest import BUCKET, files
from rechunk import errors
from rechunk.engines import driver, run_part, worker

Cli = Callable[..., dict[str, Any]]
OPTIONS: dict[str, Any] = {
    "chunks": (-1, 16, 16),
    "strategy": "push-pull",
    "max_mem": 2_700_000,
    "threads": 1,
    "workers": 2,
}
WORDS = ["--chunks=-1,16,16", "--strategy=push-pull", "--max-mem=2700000", "--threads=1", "--workers=2"]
DRIVEN = ("processes", *engine_cases.PACKAGES, "slurm")
"""Engines that are driven by a process of its own, which starts them."""


@pytest.fixture(scope="module", params=engine_cases.NAMES)
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Each engine, started once for all tests; those that are not here are skipped."""
    reason = engine_cases.lacks(request.param)
    if reason is not None:
        pytest.skip(reason)
    with engine_cases.started(request.param) as executor:
        yield executor


def planned_and_run(cli: Cli, source: Any, target: Any, folder: Path) -> dict[str, Any]:
    """A plan for as many workers, run by one process of the command line."""
    plan = folder / "plan.json"
    cli("plan", source, target, *WORDS, "--out", plan)
    return cli("run", plan)


def moved(report: dict[str, Any]) -> dict[str, Any]:
    """What was counted of chunks: not looks at the target, of which each worker has its own."""
    return {role: report["traffic"][role] for role in ("source", "intermediate", "target")}


def test_an_engine_makes_what_the_command_line_makes(
    cube: Path, tmp_path: Path, cli: Cli, engine: Any
) -> None:
    whole = planned_and_run(cli, cube, tmp_path / "cli.zarr", tmp_path)
    target = tmp_path / "t.zarr"
    told: list[dict[str, Any]] = []
    report = rechunk.plan(cube, target, **OPTIONS).execute(engine, parts=5, progress=told.append)
    assert files(target) == files(tmp_path / "cli.zarr")
    assert moved(report) == moved(whole)
    assert report["parts"]["count"] == sum(min(5, stage["tasks"]) for stage in whole["plan"]["stages"]) > 5
    assert told[-1]["tasks_done"] == told[-1]["tasks_total"]
    assert not (tmp_path / "t.zarr.rechunk").exists()


def test_an_engine_reaches_object_stores(
    cube: Path, tmp_path: Path, cli: Cli, engine: Any, s3: dict[str, str]
) -> None:
    base = f"s3://{BUCKET}/{tmp_path.name}"
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
    plan = rechunk.plan(f"{base}/cube.zarr", f"{base}/t.zarr", store_option=store, **OPTIONS)
    assert "secret" not in plan.to_json()
    report = plan.execute(engine, parts=4)
    assert moved(report) == moved(whole)
    assert rechunk.verify(f"{base}/cli.zarr", f"{base}/t.zarr", store_option=store)["equal"]


def test_an_error_that_lasts_comes_whole(cube: Path, tmp_path: Path, engine: Any) -> None:
    chunk = sorted(path for path in (cube / "c").rglob("*") if path.is_file())[0]
    chunk.write_bytes(b"not a chunk")
    plan = rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS)
    with pytest.raises(rechunk.SourceError) as raised:
        plan.execute(engine, parts=5)
    assert type(raised.value) is rechunk.SourceError
    assert raised.value.key is not None and raised.value.key.endswith(chunk.relative_to(cube).as_posix())


def test_an_engine_stops_with_its_caller_and_goes_on(cube: Path, tmp_path: Path, engine: Any) -> None:
    class Enough(Exception):
        pass

    def enough(state: dict[str, Any]) -> None:
        if state["parts_done"] == 1:
            raise Enough

    plan = rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS)
    with pytest.raises(Enough):
        plan.execute(engine, parts=5, progress=enough)
    assert rechunk.status(tmp_path / "t.zarr")["parts"]
    plan.execute(engine, parts=5)
    assert rechunk.verify(cube, tmp_path / "t.zarr")["equal"]


def test_stages_go_to_the_workers_that_they_ask_for(cube: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")

    class Done(distributed.WorkerPlugin):  # type: ignore[misc]
        """Notes the stages of the parts that its worker does."""

        name = "done"

        def __init__(self) -> None:
            self.stages: set[str] = set()

        def transition(self, key: str, start: str, finish: str, **_: Any) -> None:
            if finish == "executing" and str(key).startswith("rechunk-stage-"):
                self.stages.add(str(key).split("-")[2])

    loopback = {"host": "127.0.0.1", "dashboard_address": None}
    named = {
        name: {"cls": distributed.Worker, "options": {"nthreads": 1, "resources": {name: 1}, "host": "127.0.0.1"}}
        for name in ("reading", "writing")
    }
    scheduler = {"cls": distributed.Scheduler, "options": loopback}
    asked = {"push": {"resources": {"reading": 1}}, "pull": {"resources": {"writing": 1}}}
    plan = rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS)
    assert plan.stage_names == ["push", "pull"]
    with distributed.SpecCluster(workers=named, scheduler=scheduler) as cluster, distributed.Client(cluster) as client:
        client.register_plugin(Done())
        report = plan.execute(client, parts=4, stage_options=asked)
        stages = client.run(lambda dask_worker: sorted(dask_worker.plugins["done"].stages))
        names = client.run(lambda dask_worker: dask_worker.name)
        with pytest.raises(rechunk.UsageError, match="no worker of Dask has 1 of the resource 'gpu'"):
            plan.execute(client, stage_options={"push": {"resources": {"gpu": 1}}})
        with pytest.raises(rechunk.UsageError, match="has no option 'num_gpus'"):
            plan.execute(client, stage_options={"push": {"num_gpus": 1}})
    assert {names[worker]: stages[worker] for worker in names} == {"reading": ["0"], "writing": ["1"]}
    assert report["parts"]["engine"] == "dask"
    assert rechunk.verify(cube, tmp_path / "t.zarr")["equal"]


def test_stage_options_that_nobody_takes_are_refused(cube: Path, tmp_path: Path) -> None:
    plan = rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS)
    with pytest.raises(rechunk.UsageError, match="no stage 'apply'") as raised:
        plan.execute("threads", stage_options={"apply": {}})
    assert raised.value.hint == "its stages are push, pull"
    with pytest.raises(rechunk.UsageError, match="the engine threads can be asked for nothing"):
        plan.execute("threads", stage_options={"push": {"num_gpus": 1}})
    assert not (tmp_path / "t.zarr.rechunk").exists()


@pytest.mark.skipif(engine_cases.lacks("ray") is not None, reason="ray is not installed")
def test_ray_is_asked_for_what_a_stage_needs(cube: Path, tmp_path: Path) -> None:
    plan = rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS)
    with engine_cases.started("ray") as context:
        with pytest.raises(rechunk.UsageError, match="has 0 of the resource 'GPU', and a part asks for 1"):
            plan.execute(context, stage_options={"push": {"num_gpus": 1}})
        plan.execute(context, parts=3, stage_options={"push": {"num_cpus": 0.5}})
    assert rechunk.verify(cube, tmp_path / "t.zarr")["equal"]


def test_slurm_submits_a_stage_with_its_own_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rechunk.engines import slurm

    monkeypatch.setattr(slurm.shutil, "which", lambda command: f"/usr/bin/{command}")
    engine = slurm.Slurm(tmp_path, ["--mem=1G"])
    asked = engine.with_options({"sbatch": ["--gres=gpu:1"]})
    assert asked.options == ["--mem=1G", "--gres=gpu:1"] and engine.options == ["--mem=1G"]
    for wrong, said in (({"sbatch": "--gres=gpu:1"}, "a list"), ({"gres": "gpu:1"}, "no option 'gres'")):
        with pytest.raises(rechunk.UsageError, match=said):
            engine.with_options(wrong)


@pytest.mark.parametrize("name", (*DRIVEN, "a process pool"))
def test_a_dead_worker_is_survived(
    cube: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECHUNK_TEST_DIES", str(tmp_path / "died"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "dies"))
    done = drive(name, rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "parts: " in done.stdout
    assert (tmp_path / "died").exists()
    assert rechunk.verify(cube, tmp_path / "t.zarr")["equal"]
    assert not (tmp_path / "t.zarr.rechunk").exists()


@pytest.mark.parametrize("name", ("threads", *DRIVEN))
def test_a_dead_driver_goes_on(cube: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / "t.zarr"
    died = drive(name, rechunk.plan(cube, target, **OPTIONS), tmp_path, dies_at="2")
    assert died.returncode == -signal.SIGKILL, died.stderr
    # A worker that has lost its driver may still be in the middle of a part.
    assert rechunk.status(target)["state"] in ("open", "running")
    plan = rechunk.Plan.from_json((tmp_path / "plan.json").read_text())
    # Another engine may go on as well: this one was started before in this process, or is threads.
    report = plan.execute("threads", parts=5) if name in ("dask", "threads") else plan.execute(name, parts=5)
    assert report["parts"]["traffic"]["source"]["get_requests"] == 0, "stage 0 was marked"
    assert rechunk.verify(cube, target)["equal"]


def drive(name: str, plan: rechunk.Plan, folder: Path, dies_at: str = "never") -> Any:
    """Has a process of its own do a plan by an engine."""
    reason = engine_cases.lacks(name)
    if reason is not None:
        pytest.skip(reason)
    (folder / "plan.json").write_text(plan.to_json())
    command = [sys.executable, engine_cases.__file__, name, str(folder / "plan.json"), dies_at]
    # What it says goes to files: what an engine leaves behind would hold pipes open.
    with open(folder / "stdout", "w+") as out, open(folder / "stderr", "w+") as err:
        done = subprocess.run(command, cwd=folder, stdout=out, stderr=err, timeout=300, check=False)
        for file, words in ((out, "stdout"), (err, "stderr")):
            file.seek(0)
            setattr(done, words, file.read())
    return done


def dies_once(work: str, stage: int, index: int, of: int, *more: Any) -> str:
    """A worker that is killed in the middle of its first part."""
    flag = Path(os.environ["RECHUNK_TEST_DIES"])
    if index == 2 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_part(work, stage, index, of, *more)


def test_a_dead_worker_of_a_forked_pool_is_survived(
    cube: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECHUNK_TEST_DIES", str(tmp_path / "died"))
    monkeypatch.setattr("rechunk.engines.futures.run_part", dies_once)
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS).execute(pool, parts=5)
    assert (tmp_path / "died").exists()
    assert rechunk.verify(cube, tmp_path / "t.zarr")["equal"]


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


def test_an_engine_that_is_not_here_says_what_to_install(cube: Path, tmp_path: Path) -> None:
    absent = [name for name in (*engine_cases.PACKAGES, "slurm") if engine_cases.lacks(name)]
    for name in absent:
        if name == "slurm" and shutil.which("sbatch"):
            continue
        with pytest.raises(rechunk.UsageError, match=name) as raised:
            rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS).execute(name)
        assert raised.value.hint
        assert not (tmp_path / "t.zarr.rechunk").exists()


def test_a_path_that_workers_do_not_have_is_refused_before(cube: Path, tmp_path: Path) -> None:
    class Elsewhere:
        name, workers = "elsewhere", 3
        asked: list[str] = []

        def missing(self, paths: list[str]) -> str:
            self.asked += paths
            return f"{paths[0]} on node7"

        def run(self, *_: Any) -> Any:
            raise AssertionError("it is not begun")

        def close(self) -> None:
            self.asked.append("closed")

    engine = Elsewhere()
    with pytest.raises(rechunk.UsageError, match="does not have .*cube.zarr on node7"):
        rechunk.plan(cube, tmp_path / "t.zarr", **OPTIONS).execute(engine)
    assert engine.asked == [str(cube), str(tmp_path), "closed"]
    assert not (tmp_path / "t.zarr.rechunk").exists()
    # Of directories that are made on the way, those above them are asked for.
    engine.asked.clear()
    with pytest.raises(rechunk.UsageError, match="does not have"):
        plan = rechunk.plan(cube, tmp_path / "new" / "group.zarr" / "t", **OPTIONS)
        plan.execute(engine, temp=tmp_path / "elsewhere" / "temp")
    assert engine.asked == [str(cube), str(tmp_path), str(tmp_path), "closed"]


def test_workers_are_asked_for_paths(tmp_path: Path, engine: Any) -> None:
    found: Any = None if isinstance(engine, str) else driver.engine_of(engine, 2)
    if getattr(found, "name", "") not in ("dask", "ray", "spark"):
        pytest.skip("workers of this engine are on this machine, or are asked when they are given a part")
    assert found.missing([str(tmp_path)]) is None
    assert "/nowhere" in found.missing([str(tmp_path), "/nowhere"])


def test_errors_travel_as_json() -> None:
    error = rechunk.SourceError("damaged", key="c/0", chunk=(0, 1), causes=["a checksum"], hint="look")
    again = worker.told(json.dumps({"error": error.to_json()}))
    assert type(again) is rechunk.SourceError and (str(again), vars(again)) == (str(error), vars(error))
    least = rechunk.MemoryBudgetError("too little", minimum_bytes=7).to_json()
    assert errors.from_json(json.loads(json.dumps(least))).minimum_bytes == 7  # type: ignore[attr-defined]
