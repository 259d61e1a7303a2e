"""Engine for Lithops: parts are calls of functions, on any of its backends."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from typing import Any

from rechunk.engines.rounds import Outcome, rounds
from rechunk.engines.worker import missing, told
from rechunk.errors import UsageError


class Lithops:
    """A `FunctionExecutor`. Calls that were killed are given out again here: its retrying one waits for ever."""

    name = "lithops"

    def __init__(self, executor: Any, workers: int | None, owned: bool) -> None:
        self.executor = executor
        self.owned = owned
        self.workers = workers

    def missing(self, paths: list[str]) -> str | None:
        """Names a path that a function does not have; those of this machine have all."""
        if self.executor.backend == "localhost":
            return None
        found = self.executor.call_async(missing, (paths,), include_modules=None).result()
        return f"{found[0]} in functions of {self.executor.backend}" if found else None

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all shares of a stage."""
        from lithops.wait import ANY_COMPLETED

        # A process that Lithops was used in, and its children, may name their calls alike, and be given each
        # other's results: they are told apart by this.
        token = uuid.uuid4().hex

        def part(share: int) -> str:
            from rechunk.engines.worker import tell_part

            return token + tell_part(work, stage, share, of)

        def attempt(shares: list[int]) -> Iterator[Outcome]:
            # The function goes once, with the work in it; rechunk is installed where it runs, and not sent.
            futures = list(self.executor.map(part, shares, include_modules=None))
            share_of = {id(future): share for future, share in zip(futures, shares)}
            left = futures
            try:
                while left:
                    done, left = self.executor.wait(
                        left,
                        throw_except=False,
                        return_when=ANY_COMPLETED,
                        download_results=True,
                        wait_dur_sec=1,
                        show_progressbar=False,
                    )
                    for ended in done:
                        yield share_of[id(ended)], _outcome(ended, token)
            except BaseException:
                self.executor.compute_handler.clear({future.job_key for future in futures})
                raise
            self.executor.clean(fs=futures, clean_cloudobjects=False)

        return rounds(of, retries, attempt)

    def close(self) -> None:
        """Ends the executor, if it is ours."""
        if self.owned:
            self.executor.__exit__(None, None, None)


def _outcome(ended: Any, token: str) -> str | BaseException:
    text = None if ended.error else ended.result(throw_except=False)
    if not isinstance(text, str):
        return RuntimeError("Lithops has lost the call")
    if not text.startswith(token):
        return RuntimeError("Lithops has returned the result of another call")
    return told(text[len(token) :])


def by_name(name: str, workers: int) -> Lithops:
    """Starts processes of this machine, without telemetry; others are given as a `FunctionExecutor`."""
    try:
        import lithops
        from lithops.constants import SESSION_ID_ENV
    except ImportError:
        raise UsageError("the engine lithops needs the package lithops", hint="pip install lithops") from None
    config = {
        "lithops": {
            "backend": "localhost",
            "storage": "localhost",
            "telemetry": False,
            "data_limit": False,
            "log_level": "ERROR",
        },
        "localhost": {"runtime": sys.executable, "worker_processes": workers},
    }
    os.environ[SESSION_ID_ENV] = uuid.uuid4().hex[:6]  # none that is inherited from a parent
    return Lithops(lithops.FunctionExecutor(config=config), workers, True)


def of(executor: Any) -> Lithops:
    """Takes a `FunctionExecutor` of the caller's."""
    if type(executor).__name__ == "RetryingFunctionExecutor":
        raise UsageError(
            "a RetryingFunctionExecutor waits for ever for a call that was killed",
            hint="give a FunctionExecutor: parts are tried again anyway",
        )
    return Lithops(executor, None, False)
