"""Engine for Spark: a stage is a job of Spark, a part one of its tasks."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from typing import Any

from rechunk.engines.rounds import Outcome, rounds
from rechunk.engines.watched import Job, outcomes
from rechunk.engines.worker import missing, tell_part
from rechunk.errors import UsageError


class Spark:
    """A `SparkContext`."""

    name = "spark"

    def __init__(self, context: Any, owned: bool) -> None:
        self.context = context
        self.owned = owned
        self.workers: int | None = int(context.defaultParallelism)

    def missing(self, paths: list[str]) -> str | None:
        """Names a path that an executor does not have: of those that a job happens to meet."""
        count = max(1, self.workers or 1)
        met = self.context.parallelize(range(count), count).map(lambda _: missing(paths)).collect()
        found = [path for paths in met for path in paths]
        return f"{found[0]} on an executor" if found else None

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all shares of a stage."""

        def attempt(shares: list[int]) -> Iterator[Outcome]:
            # A task that has died more often than Spark tries it ends the job.
            return outcomes(_Job(self.context, work, stage, of, shares), shares, "Spark has lost the task")

        return rounds(of, retries, attempt)

    def close(self) -> None:
        """Stops the context, if it is ours."""
        if self.owned:
            self.context.stop()


class _Job(Job):
    """A job of Spark; accumulators bring reports while it runs, `collect` would at its end."""

    def __init__(self, context: Any, work: str, stage: int, of: int, shares: list[int]) -> None:
        from pyspark import InheritableThread

        super().__init__()
        self.thread_kind = InheritableThread
        self.context = context
        self.group = f"rechunk-{uuid.uuid4()}"
        self.seen = 0
        self.told = told = context.accumulator([], _reports())
        self.parts = context.parallelize(shares, len(shares))
        self.shared = shared = context.broadcast(work)

        def part(share: int) -> None:
            told.add([(share, tell_part(shared.value, stage, share, of))])

        self.part = part

    def work(self) -> None:
        """Does the shares."""
        try:
            self.context.setJobGroup(self.group, "rechunk", interruptOnCancel=True)
            self.parts.foreach(self.part)
        finally:
            self.shared.unpersist()

    def reports(self) -> list[tuple[int, str]]:
        """Returns what has come since the last time."""
        found: list[tuple[int, str]] = self.told.value[self.seen :]
        self.seen += len(found)
        return found

    def cancel(self) -> None:
        """Cancels it."""
        self.context.cancelJobGroup(self.group)


def _reports() -> Any:
    from pyspark.accumulators import AddingAccumulatorParam

    return AddingAccumulatorParam([])


def by_name(name: str, workers: int) -> Spark:
    """Takes the active context of this process; without one it starts one on this machine."""
    try:
        from pyspark import SparkConf, SparkContext
    except ImportError:
        raise UsageError(
            "the engine spark needs the package pyspark", hint="pip install pyspark (and Java 17 or newer)"
        ) from None
    if SparkContext._active_spark_context is not None:
        return Spark(SparkContext._active_spark_context, False)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        # The second number: how often a task is tried. Without it the first dead worker ends the job.
        "spark.master": f"local[{workers},4]",
        "spark.app.name": "rechunk",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    return Spark(SparkContext(conf=SparkConf().setAll(list(settings.items()))), True)


def of(given: Any) -> Spark:
    """Takes a `SparkContext` or a `SparkSession` of the caller's."""
    if ".connect." in type(given).__module__:
        raise UsageError(
            "a session of Spark Connect runs no Python functions on parts of a stage",
            hint="give a SparkContext, or a session that is not remote",
        )
    return Spark(getattr(given, "sparkContext", given), False)
