"""The function `rechunk`, which has the signature and the meaning of the package rechunker's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rechunk.arrays import spilled
from rechunk.calls import info, plan
from rechunk.errors import MemoryBudgetError, UsageError
from rechunk.locations import locate
from rechunk.planned import Plan, Report
from rechunk.progress import Progress

FLOOR_BYTES = 64 << 20
"""Least memory that is planned with: `max_mem` of rechunker bounds a buffer, ours a process."""
ARRAY_OPTIONS = ("compressor", "filters", "order", "cache_metadata", "cache_attrs", "overwrite", "write_empty_chunks")


class Rechunked:
    """A copy that is planned, and done by `execute`."""

    def __init__(self, plan: Plan, executor: Any, run: dict[str, Any]) -> None:
        """Not to be called: `rechunk` does."""
        self.plan = plan
        self.report: Report | None = None
        self.overwrite = bool(run.get("overwrite"))
        self._executor = executor

    def execute(
        self,
        executor: Any = None,
        *,
        parts: int | None = None,
        retries: int = 3,
        progress: Progress = None,
        opened: bool = True,
    ) -> Any:
        """Does it, and returns the target: an array or a group of zarr if that is installed, else its path.

        Does nothing if it was done before. What was counted is in `report`. With `opened=False` it is the
        path in any case.
        """
        if self.report is None:
            chosen = self._executor if executor is None else executor
            if chosen is None:
                self.report = self.plan.run(progress=progress, overwrite=self.overwrite)
            else:
                self.report = self.plan.execute(
                    chosen, parts=parts, retries=retries, progress=progress, overwrite=self.overwrite
                )
        return _opened(self.plan.target) if opened else self.plan.target

    def __repr__(self) -> str:
        """Says what goes where, and by which plan."""
        return f"<Rechunked>\n* Source      : {self.plan.source}\n* Target      : {self.plan.target}\n{self.plan!r}"

    def _repr_html_(self) -> str:
        """Draws the plan in a notebook."""
        return self.plan._repr_html_()


def rechunk(
    source: Any,
    target_chunks: Any,
    max_mem: int | str,
    target_store: Any,
    target_options: Mapping[str, Any] | None = None,
    temp_store: Any = None,
    temp_options: Mapping[str, Any] | None = None,
    executor: Any = None,
    array_name: str | None = None,
) -> Rechunked:
    """Plans the re-chunking of an array, a group or a data set; `execute()` of the result does it.

    `source` is a Zarr array or group of zarr-python 2 or 3, a data set of xarray that was opened from
    Zarr, an array of NumPy, a path or a URL. `target_chunks` is a tuple, a `dict` by dimension, or for groups and data sets a
    `dict` by variable; of a group only arrays that it names are copied. `max_mem` is the memory of one
    worker. `executor` is what `Plan.execute` takes; by default it is done in this process, with all its
    cores. `temp_options` are checked, and nothing is made of them: what lies between is not Zarr.

    >>> import rechunk
    >>> done = rechunk.rechunk("sst.zarr", (10, 4, 4), "64MB", "rechunked.zarr")
    >>> target = done.execute()
    >>> rechunk.verify("sst.zarr", "rechunked.zarr")["equal"]
    True
    """
    source, held = spilled(source)
    described = info(source)
    target = locate(target_store)[0]
    is_into_group = hasattr(target_store, "create_group")
    if array_name is not None and is_into_group:  # of a path it says nothing, as in rechunker
        target = f"{target.rstrip('/')}/{array_name}"
    if described["node"] == "array":
        if array_name is None and is_into_group:
            raise UsageError("Can't rechunk to a group without a name for the array.", hint="give array_name=")
        options = {"chunks": _array_chunks(described, target_chunks)}
        options |= _array_options(target_options or {})
        _array_options(temp_options or {})
    else:
        if array_name is not None:
            raise UsageError("Can't specify `array_name` when rechunking a Group.", hint="give only target_chunks")
        options = _group_options(source, described, target_chunks, target_options or {})
        for name in options["var"]:
            _array_options((temp_options or {}).get(name) or {})
    options["format"] = "zarr2" if described.get("format") == "zarr2" else "zarr3"
    run = {"overwrite": True} if options.pop("overwrite", False) else {}
    if temp_store is not None:
        options["temp"] = temp_store
    planned = _planned(source, target, max_mem, options)
    planned._held = held
    return Rechunked(planned, _executor(executor), run)


def _planned(source: Any, target: str, max_mem: int | str, options: dict[str, Any]) -> Plan:
    try:
        return plan(source, target, max_mem=max_mem, **options)
    except MemoryBudgetError as error:
        least = error.minimum_bytes
        if least is None or least > FLOOR_BYTES:
            raise
        return plan(source, target, max_mem=least, **options)


def _executor(given: Any) -> Any:
    """Takes the names that rechunker has for its executors."""
    if isinstance(given, str) and given.lower() in ("python", ""):
        return None
    return given.lower() if isinstance(given, str) else given


def _array_chunks(described: Report, chunks: Any) -> Any:
    shape, names = described["shape"], described.get("dimension_names")
    if chunks is None:
        return "keep"
    if isinstance(chunks, Mapping):
        if not names:
            raise KeyError("_ARRAY_DIMENSIONS")
        missing = [name for name in names if name not in chunks]
        if missing:
            raise KeyError(f"target_chunks says nothing of {', '.join(missing)}: give every dimension")
        chunks = tuple(chunks[name] for name in names)
    if isinstance(chunks, Sequence) and not isinstance(chunks, str):
        if len(chunks) != len(shape):
            raise ValueError(f"target_chunks {tuple(chunks)} must have length {len(shape)}")
        return tuple(chunks)
    raise TypeError(f"target_chunks is a tuple or a dict, and not {chunks!r}")


def _array_options(given: Mapping[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for key, value in given.items():
        if key not in ARRAY_OPTIONS:
            raise ValueError(
                f"Zarr options must not include {key} (got {key}={value}). "
                f"Only the following options are supported: {list(ARRAY_OPTIONS)}."
            )
        if key == "compressor":
            options["codec"] = codec_of(value)
        elif key == "overwrite" and value:
            options["overwrite"] = True
        elif key == "write_empty_chunks":
            options["write_empty"] = "always" if value else "never"
        elif key in ("filters", "order") and value not in (None, "C", []):
            raise UsageError(f"{key} of the target cannot be chosen", hint="leave it out")
    return options


def codec_of(compressor: Any) -> Any:
    """Returns a compressor of numcodecs as the option `codec`; texts and `dict`s are taken as they are."""
    if compressor is None:
        return "none"
    if hasattr(compressor, "get_config"):
        return compressor.get_config()
    return compressor


def _group_options(
    source: Any, described: Report, chunks: Any, given: Mapping[str, Any]
) -> dict[str, Any]:
    is_data_set = type(source).__module__.partition(".")[0] == "xarray"
    if not isinstance(chunks, Mapping):
        what = "a dataset" if is_data_set else "a group"
        raise ValueError(f"You must specify ``target-chunks`` as a dict when rechunking {what}.")
    if described["truncated"]:
        raise UsageError("the group has too many arrays to be named one by one", hint="use rechunk.copy")
    arrays = {member["path"]: member for member in described["members"] if member["node"] == "array"}
    dimensions = {name for array in arrays.values() for name in array.get("dimension_names") or ()}
    if is_data_set and chunks and all(name in dimensions for name in chunks) and not any(
        name in arrays and name not in dimensions for name in chunks
    ):
        by_name = {
            path: {name: size for name, size in chunks.items() if name in array["dimension_names"]}
            for path, array in arrays.items()
            if array.get("dimension_names")
        }
        by_name = {path: found for path, found in by_name.items() if found}
    else:
        by_name = dict(chunks)
    unknown = [name for name in by_name if name not in arrays]
    if unknown and not is_data_set:
        raise KeyError(unknown[0])
    var: dict[str, dict[str, Any]] = {}
    overwrite = False
    for path, of_array in by_name.items():
        if path not in arrays:
            continue
        options = {"chunks": _member_chunks(arrays[path], of_array)}
        options |= _array_options(given.get(path) or {})
        overwrite |= bool(options.pop("overwrite", False))
        var[path] = {name: value for name, value in options.items() if value is not None}
    found: dict[str, Any] = {"var": var, "coords": "keep", "overwrite": overwrite}
    if not is_data_set:
        found["include"] = list(by_name)
        found["no_others"] = True
    return found


def _member_chunks(array: Report, chunks: Any) -> Any:
    if isinstance(chunks, Mapping):
        names = array.get("dimension_names") or []
        return tuple(chunks.get(name, "keep") for name in names)
    return "keep" if chunks is None else chunks


def _opened(target: str) -> Any:
    try:
        import zarr
    except ImportError:
        return target
    return zarr.open(target, mode="r+")
