"""Operations of `rechunk.apply` that are no text: Python callables and external programs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from datetime import timedelta

    from rechunk._rechunk import Elements

SAID_MAX = 2000
"""Most characters of an exception in the message of another."""


@dataclass(frozen=True)
class Exec:
    """An external program that is started for each box, as `rechunk apply --exec` has it.

    >>> Exec("denoise {in} {out}", format="tiff", mem="2GiB").options()["exec_format"]
    'tiff'
    """

    command: str
    """Program and arguments; `{in}`, `{out}` and others are replaced. No shell is started."""
    format: str = "npy"
    """Files that it reads and writes: `npy`, `tiff` or `raw`."""
    returns: str = "padded"
    """Shape of its output: `padded`, or `cropped`, without the crop."""
    jobs: int | None = None
    """Most programs at once."""
    mem: int | str | None = None
    """Memory of one, which counts against `max_mem`."""
    timeout: int | float | str | timedelta | None = None
    """Time that one run may take."""
    retries: int = 0
    """Number of times that a run that fails is tried again."""
    persistent: bool = False
    """The program stays, and gets a line of JSON for each box."""

    def options(self) -> dict[str, Any]:
        """Returns it as options of the command line."""
        named = {f"exec_{field.name}": getattr(self, field.name) for field in fields(self)}
        return {"exec": named.pop("exec_command"), **named}


@dataclass(frozen=True)
class Task:
    """Place of a call. Boxes are start and end along each axis, slowest first."""

    number: int
    """Number of the task."""
    index: tuple[int, ...]
    """Index of the task in the grid of work chunks of the top level."""
    call: int
    """Number of the call within its task."""
    read: tuple[tuple[int, int], ...]
    """Box of the arrays in their sources: negative, or beyond them, where their border cuts it."""
    keep: tuple[tuple[int, int], ...]
    """Box whose results are taken."""
    pads: tuple[tuple[int, int], ...]
    """Elements of the arrays before and after those of `keep`: the crop."""

    @property
    def inner(self) -> tuple[slice, ...]:
        """The part of the arrays that is `keep`: `array[task.inner]` has no crop.

        >>> Task(0, (0,), 0, ((-2, 10),), ((0, 8),), ((2, 2),)).inner
        (slice(2, 10, None),)
        """
        axes = zip(self.read, self.pads)
        return tuple(slice(before, end - start - after) for (start, end), (before, after) in axes)


Operation = Union[str, Exec, Callable[..., Any]]
"""An operation of the command line with its settings, a program, or a callable."""


class WrongResultError(TypeError):
    """A callable has returned something else than it is to return."""


class Called:
    """Calls a callable with arrays, and puts what it returns where it belongs."""

    def __init__(self, function: Callable[..., Any], returns: str) -> None:
        """Looks whether it has a parameter for its task."""
        self._function = function
        self._returns = returns
        self._takes_task = takes_task(function)

    def __call__(self, windows: Sequence[Elements], place: tuple[Any, ...], out: Elements) -> bool:
        """Returns false if there is nothing to write. Reads `windows`, writes `out`; keeps neither."""
        import numpy

        arrays = [numpy.asarray(window) for window in windows]
        task = _task(place)
        more = {"task": task} if self._takes_task else {}
        result = self._function(*arrays, **more)
        if result is None:
            return False
        target = numpy.asarray(out)
        self._check(result, target, task)
        numpy.copyto(target, result, casting="equiv")
        return True

    def _check(self, result: Any, target: Any, task: Task) -> None:
        import numpy

        if not isinstance(result, (numpy.ndarray, numpy.generic)):
            kind = type(result).__name__
            raise WrongResultError(f"it returned a value of the type {kind}, and not an array of NumPy, or None")
        if hasattr(result, "mask"):
            raise WrongResultError("it returned a masked array, whose mask would be lost: return array.filled(value)")
        if result.shape != target.shape:
            hint = ""
            sizes = [end - start for start, end in (task.read if self._returns == "cropped" else task.keep)]
            if result.shape == tuple(sizes):
                other = "padded" if self._returns == "cropped" else "cropped"
                hint = f": give returns={other!r} if that is meant"
            raise WrongResultError(
                f"it returned an array of the shape {result.shape}, and not {target.shape}{hint}"
            )
        if not numpy.can_cast(result.dtype, target.dtype, "equiv"):
            raise WrongResultError(
                f"it returned elements of {result.dtype}, and not {target.dtype}:"
                f" give dtype={result.dtype.name!r}, or return array.astype({target.dtype.name!r})"
            )


def _task(place: tuple[Any, ...]) -> Task:
    number, index, call, *boxes = place
    read, keep, pads = (tuple((start, end) for start, end in axes) for axes in boxes)
    return Task(number, tuple(index), call, read, keep, pads)


def takes_task(function: Callable[..., Any]) -> bool:
    """Says whether a callable has a parameter that is called `task`.

    >>> takes_task(lambda array, task: array), takes_task(abs)
    (True, False)
    """
    try:
        return "task" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # of C
        return False


def name_of(function: Callable[..., Any]) -> str:
    """Returns the name by which a run knows its callable again.

    >>> import functools
    >>> name_of(takes_task), name_of(functools.partial(takes_task))
    ('rechunk.functions.takes_task', 'rechunk.functions.takes_task')
    """
    while not hasattr(function, "__qualname__") and hasattr(function, "func"):  # functools.partial
        function = function.func
    named: Any = function if hasattr(function, "__name__") else type(function)
    name = getattr(named, "__qualname__", named.__name__)
    module = getattr(named, "__module__", None)
    return f"{module}.{name}" if module else str(name)


def said(error: BaseException) -> str:
    """Returns the last line of the traceback of an exception, and the line that raised it.

    >>> try:
    ...     {}["no such key"]
    ... except KeyError as error:
    ...     said(error)  # doctest: +ELLIPSIS
    "KeyError: 'no such key' (<doctest ...>, line 2)"
    """
    import os
    import traceback

    if isinstance(error, WrongResultError):
        return str(error)
    text = "".join(traceback.format_exception_only(type(error), error)).strip()[:SAID_MAX]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    if not frames:
        return text
    return f"{text} ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})"
