"""The verb `apply`: an operation on boxes of arrays."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from rechunk import _rechunk
from rechunk._rechunk import Cancel
from rechunk.arrays import check_shape, directory, is_array, spilled
from rechunk.errors import UsageError
from rechunk.locations import located
from rechunk.planned import Report
from rechunk.progress import Progress, listener

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from typing_extensions import Unpack

    from rechunk.functions import Called, Operation
    from rechunk.options import ApplyKeywords, Shape

OF_FUNCTIONS = ("name", "dtype", "halo", "labels", "scratch", "jobs", "returns")
"""Options of a callable, which other operations do not have."""


def apply(
    source: Any,
    target: Any = None,
    op: Operation | None = None,
    work: Shape | None = None,
    *,
    progress: Progress = None,
    cancel: Cancel | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[ApplyKeywords],
) -> Report:
    """Applies an operation to boxes of an array, and writes the results into another; returns the report.

    `op` is a text of the command line (`"gaussian:sigma=2"`), an `Exec`, or a callable that gets an array
    of NumPy for each source and returns one, or None if there is nothing to write. The arrays cannot be
    written. A parameter called `task` gets the `Task`. It is called from threads, several of which may be
    in it at once where it does not hold the interpreter.

    `work` is what one call gives. `crop` is read around it in addition, and dropped from the results;
    `crop="auto"` is the `halo` of the operation. `source` may be a list of arrays of one shape, and arrays of
    NumPy may be sources and the target; see `rechunk.arrays`. Without a target the operation is a statistic,
    whose value is `statistic` of the report. With `dry_run=True` nothing is run, and the report is that of
    the plan.

    Of a callable, `dtype` is the type of its results (that of the first source), `halo` how far it looks,
    `scratch` the bytes that a call takes beside its arrays and its result, `returns="cropped"` says that its
    results have no crop, and `labels=True` that they are names and not to be averaged. `name` stands for it
    in the job: with `resume=True` a run is gone on with only by a callable of the same name.

    >>> import rechunk
    >>> report = rechunk.apply("sst.zarr", "warm.zarr", lambda sst: sst > 100, (5, 16, 16), dtype="bool")
    >>> report["apply"]["op_calls"]
    2
    >>> rechunk.apply("sst.zarr", op="min-max-mean", work=(5, 16, 16))["statistic"]["max"]
    2559.0
    """
    given: dict[str, Any] = {**options, "work": work}
    callable_, given = _operation(op, given)
    sources = source if isinstance(source, (list, tuple)) else [source]
    with ExitStack() as held:
        read = [_held(one, held) for one in sources]

        def run(target: Any, progress: Progress = progress, **more: Any) -> Report:
            (*located_sources, written), known = located([*read, target], storage_options, {**given, **more})
            told, close = listener(progress)
            try:
                return _rechunk.apply(located_sources, written, known, callable_, told, cancel)
            finally:
                close()

        return _fill(target, run, given) if is_array(target) else run(target)


def _held(source: Any, held: ExitStack) -> Any:
    location, folder = spilled(source)
    if folder is not None:
        held.enter_context(folder)
    return location


def _operation(op: Any, given: dict[str, Any]) -> tuple[Called | None, dict[str, Any]]:
    """Returns the callable, if it is one, and the options with those of the operation."""
    from rechunk.functions import Called, Exec, name_of

    if callable(op):
        import numpy

        returns = str(given.get("returns") or "padded")
        given = {"name": name_of(op), **{name: value for name, value in given.items() if value is not None}}
        if "dtype" in given:
            try:
                given["dtype"] = numpy.dtype(given["dtype"]).name
            except TypeError as error:
                raise UsageError(f"dtype: {error}") from None
        return Called(op, returns), given
    for name in OF_FUNCTIONS:
        if given.get(name) not in (None, False):
            hint = "an Exec has settings of its own" if isinstance(op, Exec) else "cast= is the type of results"
            raise UsageError(f"{name} is an option of a callable", hint=hint if name != "name" else None)
    given = {name: value for name, value in given.items() if name not in OF_FUNCTIONS}
    if isinstance(op, Exec):
        return None, {**given, **op.options()}
    if op is not None and not isinstance(op, str):
        raise UsageError(
            f"op: an object of the type {type(op).__name__} is no operation",
            hint="give a text such as 'gaussian:sigma=2', an Exec or a callable",
        )
    return None, {**given, "op": op}


def _fill(target: Any, run: Callable[..., Report], given: Mapping[str, Any]) -> Report:
    """Fills an array by way of a store, as results are not written into one file."""
    from rechunk.calls import copy

    for name in ("update", "resume", "overwrite"):
        if given.get(name):
            raise UsageError(f"{name} is of targets in stores", hint="give the location of a store")
    with directory() as folder:
        path = f"{folder}/target.zarr"
        plan = run(path, progress=None, dry_run=True)
        check_shape(target, plan["plan"]["shape"])
        if given.get("dry_run"):
            return plan
        report = run(path)
        copy(path, target)
        return report
