"""Engines that are executors of `concurrent.futures`, and threads and processes of this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
)
from contextlib import suppress
from typing import Any

from rechunk._rechunk import Cancel
from rechunk.engines.rounds import Outcome, rounds
from rechunk.engines.worker import run_part


class Futures:
    """An executor; a pool whose worker has died is made anew by `again`."""

    def __init__(
        self, name: str, pool: Executor, again: Callable[[], Executor] | None, owned: bool
    ) -> None:
        self.name = name
        self.pool = pool
        self.again = again
        self.owned = owned
        self.workers: int | None = getattr(pool, "_max_workers", None)

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all shares of a stage."""

        def attempt(shares: list[int]) -> Iterator[Outcome]:
            # Threads of this process are stopped by it when the driver is.
            cancel = Cancel() if isinstance(self.pool, ThreadPoolExecutor) else None
            given: dict[Future[str], int] = {}
            more = () if cancel is None else (cancel,)
            try:
                for share in shares:
                    given[self.pool.submit(run_part, work, stage, share, of, *more)] = share
                for future in as_completed(given):
                    error = future.exception()
                    yield given[future], future.result() if error is None else error
            except BrokenExecutor as broken:  # of submit: a worker has died meanwhile
                done = set(given.values())
                for share in shares:
                    if share not in done:
                        yield share, broken
                for future, share in given.items():
                    error = future.exception()
                    yield share, future.result() if error is None else error
            except BaseException:
                if cancel is not None:
                    cancel.cancel()
                for future in given:
                    with suppress(NotImplementedError):  # Parsl's
                        future.cancel()
                raise
            finally:
                self.mend()

        return rounds(of, retries, attempt)

    def mend(self) -> None:
        """Makes a new pool if this one is broken."""
        if getattr(self.pool, "_broken", False) and self.again is not None:
            if self.owned:
                self.pool.shutdown(wait=False)
            self.pool, self.owned = self.again(), True

    def close(self) -> None:
        """Ends the pool, if it is ours."""
        if self.owned:
            self.pool.shutdown(wait=True, cancel_futures=True)


def by_name(name: str, workers: int) -> Futures:
    """Starts threads or processes, as many as the plan has workers."""
    if name == "threads":
        return Futures(name, ThreadPoolExecutor(workers), None, True)

    def start() -> Executor:
        # Not fork: threads of this process may hold what a child then waits for.
        return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))

    return Futures(name, start(), start, True)


def of(pool: Executor) -> Futures:
    """Takes an executor of the caller's, which goes on to be his."""
    again = None
    if isinstance(pool, ProcessPoolExecutor):
        settings: dict[str, Any] = {
            "max_workers": getattr(pool, "_max_workers", None),
            "mp_context": getattr(pool, "_mp_context", None),
            "initializer": getattr(pool, "_initializer", None),
            "initargs": getattr(pool, "_initargs", ()),
        }

        def again() -> Executor:
            return ProcessPoolExecutor(**settings)

    return Futures(type(pool).__name__, pool, again, False)
