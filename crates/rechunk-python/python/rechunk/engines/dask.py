"""Engine for Dask: parts are tasks of `distributed`, which gives those of a dead worker to others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rechunk.engines.rounds import Outcome, rounds
from rechunk.engines.stage_options import refuse_options
from rechunk.engines.worker import missing, run_part
from rechunk.errors import UsageError

OPTIONS = ("resources", "workers", "allow_other_workers", "priority")
"""Words of `Client.map` that the parts of a stage may be given with."""


class Dask:
    """A client of `distributed`."""

    name = "dask"

    def __init__(self, client: Any, owned: bool, options: dict[str, Any] | None = None) -> None:
        self.client = client
        self.owned = owned
        self.options = options or {}
        self.workers: int | None = len(client.scheduler_info(n_workers=-1)["workers"]) or None

    def with_options(self, options: dict[str, Any]) -> Dask:
        """Gives its parts these words of `Client.map`. No task waits for a resource that no worker has."""
        refuse_options(self.name, options, OPTIONS)
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        for name, count in options.get("resources", {}).items():
            if workers and all(worker.get("resources", {}).get(name, 0) < count for worker in workers):
                raise UsageError(
                    f"stage_options: no worker of Dask has {count} of the resource {name!r}",
                    hint=f"start workers with it: dask worker --resources '{name}={count}'",
                )
        return Dask(self.client, False, options)

    def missing(self, paths: list[str]) -> str | None:
        """Names a path that a worker does not have."""
        for worker, found in self.client.run(missing, paths).items():
            if found:
                return f"{found[0]} on the worker {worker}"
        return None

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all shares of a stage."""
        from distributed import as_completed

        def attempt(shares: list[int]) -> Iterator[Outcome]:
            # Once to all, and not with each task; again in each round, as it is lost with all workers.
            shared = self.client.scatter(work, broadcast=True, hash=False)
            numbers = {"stage": stage, "of": of}
            futures = self.client.map(
                _part,
                shares,
                work=shared,
                **numbers,
                retries=retries,
                pure=False,
                key=f"rechunk-stage-{stage}",
                **self.options,
            )
            share_of = {future.key: share for share, future in zip(shares, futures)}
            try:
                for future in as_completed(futures):
                    error = future.exception() if future.status == "error" else None
                    if future.status == "cancelled":
                        error = RuntimeError("the scheduler has lost the task")
                    yield share_of[future.key], future.result() if error is None else error
            except BaseException:
                self.client.cancel(futures, force=True)
                raise

        return rounds(of, retries, attempt)

    def close(self) -> None:
        """Ends the client, if it is ours."""
        if self.owned:
            self.client.close()


def _part(share: int, *, work: str, stage: int, of: int) -> str:
    return run_part(work, stage, share, of)


def by_name(name: str, workers: int) -> Dask:
    """Takes the current client of this process; without one it starts a cluster on this machine."""
    try:
        from distributed import Client, get_client
    except ImportError:
        raise UsageError(
            "the engine dask needs the package distributed",
            hint="pip install 'dask[distributed]'",
        ) from None
    try:
        return Dask(get_client(), False)
    except ValueError:
        return Dask(Client(n_workers=workers, threads_per_worker=1), True)


def of(client: Any) -> Dask:
    """Takes a client of the caller's, or a cluster."""
    if hasattr(client, "scheduler_address") and not hasattr(client, "scatter"):
        from distributed import Client

        return Dask(Client(client), True)
    return Dask(client, False)
