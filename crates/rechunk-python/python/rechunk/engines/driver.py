"""Has an engine do a plan: begin, each stage in parts, finish."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from rechunk.engines.stage_options import engines_of_stages
from rechunk.engines.worker import work_of
from rechunk.errors import UsageError
from rechunk.locations import locate
from rechunk.progress import Progress, listener

if TYPE_CHECKING:
    from rechunk.planned import Plan, Report

PARTS_MAX = 10_000
"""Most parts of a stage that an engine is given, whatever the number of chunks."""
PARTS_A_WORKER = 4
"""Parts for each worker, so that one that is slow does not keep the others waiting for long."""
NAMES = ("threads", "processes", "dask", "ray", "spark", "beam", "lithops", "parsl", "slurm")
PACKAGES = {
    "concurrent": "futures",
    "distributed": "dask",
    "ray": "ray",
    "pyspark": "spark",
    "apache_beam": "beam",
    "lithops": "lithops",
    "parsl": "parsl",
}
"""Of the package that an object comes from, the module that knows it; executors of `concurrent` first."""


class Engine(Protocol):
    """What an engine has to do.

    It may have a method `missing(paths)`, which says where one of these local paths is not, or `None`; and
    `with_options(options)`, which returns an engine that asks for more with the parts of a stage, or raises
    `UsageError`.
    """

    name: str
    workers: int | None
    """Number of its workers, if it is known."""

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all `of` shares of a stage, and yields their reports as they come."""

    def close(self) -> None:
        """Ends what was started for it."""


def engine_of(executor: Any, workers: int) -> Engine:
    """Finds the engine for what `Plan.execute` is given."""
    if isinstance(executor, str):
        if executor not in NAMES:
            raise UsageError(f"there is no engine {executor!r}", hint=f"there are {', '.join(NAMES)}")
        module = {"threads": "futures", "processes": "futures"}.get(executor, executor)
        found: Engine = import_module(f"rechunk.engines.{module}").by_name(executor, workers)
        return found
    if all(hasattr(executor, name) for name in ("name", "workers", "run", "close")):
        ready: Engine = executor
        return ready
    modules = {kind.__module__.partition(".")[0] for kind in type(executor).__mro__}
    for package, module in PACKAGES.items():
        if package in modules:
            made: Engine = import_module(f"rechunk.engines.{module}").of(executor)
            return made
    kind = f"{type(executor).__module__}.{type(executor).__qualname__}"
    raise UsageError(
        f"an object of the type {kind} is no engine",
        hint=f"give one of {', '.join(NAMES)}, a concurrent.futures.Executor, a client of Dask, or another "
        "object that the module rechunk.engines lists",
    )


def check_paths(engine: Engine, plan: Plan, temp: Any) -> None:
    """Refuses local paths that workers do not have, before anything is begun."""
    ask: Callable[[list[str]], str | None] | None = getattr(engine, "missing", None)
    paths = [plan.source, _made(os.path.dirname(plan.target)), _made(temp or "")]
    paths = [path for path in paths if path and ":" not in path]
    where = ask(paths) if ask is not None and paths else None
    if where is not None:
        raise UsageError(
            f"the engine {engine.name} does not have {where}",
            hint="give locations that the driver and all workers reach: a shared file system, or a URL",
        )


def _made(path: str) -> str:
    """Returns `path`, or the nearest directory above it that is there: what is below will be made."""
    while path and ":" not in path and not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def execute(
    plan: Plan,
    executor: Any,
    *,
    parts: int | None,
    retries: int,
    progress: Progress,
    options: dict[str, Any],
    stage_options: dict[str, dict[str, Any]] | None = None,
) -> Report:
    """Runs `plan` on an engine. See `Plan.execute`."""
    engine = engine_of(executor, plan.workers)
    if options.get("temp") is not None:
        options = {**options, "temp": locate(options["temp"])[0]}  # as workers take it
    told, close = listener(progress)
    try:
        check_paths(engine, plan, options.get("temp"))
        engines = engines_of_stages(engine, plan, stage_options or {})
        # `resume` needs no word: parts that are done stay done.
        begin = {name: value for name, value in options.items() if name != "resume"}
        begun = plan.begin(**begin)
        names = ("no_fsync", "verify", "temp")
        anywhere: dict[str, Any] = {name: options[name] for name in names if name in options}
        work = work_of(plan, plan._stores, anywhere)
        sums = Sums(told)
        wanted = parts or PARTS_A_WORKER * max(plan.workers, engine.workers or 1)
        if not begun["complete"]:
            for stage in begun["stages"]:
                of = max(1, min(wanted, stage["tasks"], PARTS_MAX))
                sums.begin(stage, of)
                asked = engines.get(stage["name"], engine)
                for done in asked.run(work, stage["stage"], of, retries):
                    sums.add(json.loads(done))
        report = plan.finish(**anywhere)
    finally:
        close()
        engine.close()
    return sums.into(report, engine.name)


class Sums:
    """Traffic, tasks and warnings of all parts."""

    def __init__(self, told: Callable[[dict[str, Any]], None] | None) -> None:
        self.told = told
        self.state: dict[str, Any] = {}
        self.traffic: dict[str, Any] = {}
        self.warnings: list[str] = []
        self.count = 0
        self.peak_bytes = 0

    def begin(self, stage: dict[str, Any], of: int) -> None:
        self.state = {
            "stage": stage["name"],
            "stage_number": stage["stage"],
            "tasks_done": 0,
            "tasks_total": stage["tasks"],
            "parts_done": 0,
            "parts_total": of,
            "bytes_done": 0,
            "bytes_total": 0,
        }
        self.tell()

    def add(self, part: dict[str, Any]) -> None:
        self.count += 1
        add(self.traffic, part["traffic"])
        self.warnings += [text for text in part["warnings"] if text not in self.warnings]
        self.peak_bytes = max(self.peak_bytes, part["memory"].get("peak_rss_bytes") or 0)
        self.state["parts_done"] += 1
        self.state["tasks_done"] += part["tasks"]["done"]
        self.tell()

    def tell(self) -> None:
        if self.told is not None:
            self.told(dict(self.state))

    def into(self, report: Report, engine: str) -> Report:
        """Adds the sums to the report of the end."""
        traffic = report.get("traffic")
        if isinstance(traffic, dict):
            add(traffic, self.traffic)
        report["parts"] = {
            "engine": engine,
            "count": self.count,
            "traffic": self.traffic,
            "peak_rss_bytes": self.peak_bytes,
        }
        report["warnings"] = [
            *report.get("warnings", []),
            *(text for text in self.warnings if text not in report.get("warnings", [])),
        ]
        return report


def add(to: dict[str, Any], other: dict[str, Any]) -> None:
    """Adds the numbers of nested `dict`s."""
    for name, value in other.items():
        if isinstance(value, dict):
            add(to.setdefault(name, {}), value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            to[name] = to.get(name, 0) + value
        else:
            to.setdefault(name, value)
