"""Work of an engine that only returns when all of it is over: it runs in a thread, and is watched."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from rechunk.engines.rounds import Outcome
from rechunk.engines.worker import told

LOOK_SECONDS = 0.2
"""How often it is looked for parts that are done."""


class Job(ABC):
    """Work of an engine on some shares."""

    thread_kind: type[threading.Thread] = threading.Thread

    def __init__(self) -> None:
        self.error: Exception | None = None

    @abstractmethod
    def work(self) -> None:
        """Does the shares, and returns when the engine is through with them."""

    @abstractmethod
    def reports(self) -> Iterable[tuple[int, str]]:
        """Returns what has come since the last time: the number of a share, and what `tell_part` said."""

    @abstractmethod
    def cancel(self) -> None:
        """Stops it."""

    def is_stuck(self, left: set[int]) -> bool:
        """Says whether nobody will ever do the shares that are left, though the engine waits for them."""
        return False

    def _run(self) -> None:
        try:
            self.work()
        except Exception as error:
            self.error = error


def outcomes(job: Job, shares: list[int], lost: str) -> Iterator[Outcome]:
    """Starts `job`, and yields an outcome for each of its shares; `lost` says why one has none."""
    thread = job.thread_kind(target=job._run, daemon=True)
    thread.start()
    left = set(shares)
    try:
        while True:
            thread.join(LOOK_SECONDS)
            is_over = not thread.is_alive()
            for share, text in job.reports():
                if share in left:
                    left.remove(share)
                    yield share, told(text)
            if is_over or job.is_stuck(left):
                break
    except BaseException:
        job.cancel()
        raise
    for share in left:
        yield share, job.error or RuntimeError(lost)
