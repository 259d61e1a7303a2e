"""Tries again what has failed: rounds over the shares that are not done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Union

from rechunk.errors import LASTING, RechunkError

Outcome = tuple[int, Union[str, BaseException]]
"""Number of a share, and its report or why there is none."""


def rounds(
    of: int, retries: int, attempt: Callable[[list[int]], Iterable[Outcome]]
) -> Iterator[str]:
    """Has `attempt` do the shares it is given, until none is left; yields reports.

    An error that another try does not mend is raised at once. A share that has failed more than `retries`
    times raises the error of its last try.
    """
    left = list(range(of))
    for tried in range(retries + 1):
        failed: list[int] = []
        last: BaseException | None = None
        for share, outcome in attempt(left):
            if isinstance(outcome, str):
                yield outcome
                continue
            if isinstance(outcome, LASTING) or not isinstance(outcome, Exception):
                raise outcome
            failed.append(share)
            last = outcome
        if last is None:
            return
        if tried == retries:
            break
        left = failed
    raise _given_up(len(failed), retries, last) from last


def _given_up(count: int, retries: int, last: BaseException | None) -> RechunkError:
    if isinstance(last, RechunkError):
        return last
    return RechunkError(
        f"{count} parts have failed {retries + 1} times each",
        causes=[f"{type(last).__name__}: {last}"],
        hint="the same call goes on where it was",
    )
