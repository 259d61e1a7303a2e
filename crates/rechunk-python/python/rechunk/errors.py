"""Exceptions, one for each exit code of the command line.

They carry what is known of the place: `location`, `array`, `chunk` (its index), `key`; `hint` says what
to do, `causes` what is behind it. All of it goes along when they are pickled.

>>> import rechunk
>>> try:
...     rechunk.plan("sst.zarr", chunks="time=tomorrow")
... except rechunk.UsageError as error:
...     print(error.exit_code)
2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class RechunkError(Exception):
    """A job failed while it was running; what is done is kept. The base of all others."""

    exit_code = 1

    def __init__(
        self,
        message: str,
        *,
        causes: Sequence[str] = (),
        hint: str | None = None,
        location: str | None = None,
        array: str | None = None,
        chunk: Sequence[int] | None = None,
        key: str | None = None,
    ) -> None:
        """Makes an exception; without the keywords it is about no place."""
        super().__init__(message)
        self.message = message
        self.causes = tuple(causes)
        self.hint = hint
        self.location = location
        self.array = array
        self.chunk = None if chunk is None else tuple(chunk)
        self.key = key

    def __str__(self) -> str:
        """Says what is wrong, why, and what to do."""
        lines = [self.message, *(f"  caused by: {cause}" for cause in self.causes)]
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    _about: tuple[str, ...] = ("causes", "hint", "location", "array", "chunk", "key")

    def __reduce__(self) -> tuple[Any, ...]:
        """Takes all attributes along to another process."""
        return _again, (type(self), self.message, self._known())

    def to_json(self) -> dict[str, Any]:
        """Returns all that it carries, in types of JSON."""
        return {"class": type(self).__name__, "message": self.message, "about": self._known()}

    def _known(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._about}


def _again(kind: type[RechunkError], message: str, about: dict[str, Any]) -> RechunkError:
    return kind(message, **about)


class UsageError(RechunkError, ValueError):
    """The request itself is wrong."""

    exit_code = 2


class SourceError(RechunkError):
    """The source is missing, unreadable, damaged or unsupported."""

    exit_code = 3


class TargetError(RechunkError):
    """The target exists, is locked or conflicts."""

    exit_code = 4


class MemoryBudgetError(RechunkError, ValueError):
    """It does not fit the memory budget; `minimum_bytes` is the least that works, if it is known."""

    exit_code = 5
    _about = (*RechunkError._about, "minimum_bytes")

    def __init__(self, message: str, *, minimum_bytes: int | None = None, **about: Any) -> None:
        """Makes an exception; see `RechunkError`."""
        super().__init__(message, **about)
        self.minimum_bytes = minimum_bytes


class DifferencesFound(RechunkError):
    """Two arrays or groups differ."""

    exit_code = 6


class NotYet(RechunkError):
    """Other processes have not done yet what this one needs: it can be tried again."""

    exit_code = 7


class Interrupted(RechunkError):
    """The work was asked to stop, and has: what is done is kept.

    Raised after `Cancel.cancel()`. Ctrl-C raises `KeyboardInterrupt`, as everywhere in Python, with this
    as its `__cause__`.
    """

    exit_code = 130


class OperationError(RechunkError):
    """An operation of `rechunk.apply` has failed; what is done is kept.

    What a Python callable has raised is its `__cause__`.
    """


def from_json(found: dict[str, Any]) -> RechunkError:
    """Makes the exception that `RechunkError.to_json` has described.

    >>> from_json(UsageError("no such axis", hint="give time").to_json())
    UsageError('no such axis')
    """
    kinds = {kind.__name__: kind for kind in RechunkError.__subclasses__()}
    return _again(kinds.get(found["class"], RechunkError), found["message"], found["about"])


LASTING = (UsageError, SourceError, TargetError, MemoryBudgetError, DifferencesFound, Interrupted)
"""Errors that another try does not mend."""
