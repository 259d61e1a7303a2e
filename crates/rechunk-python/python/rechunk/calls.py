"""The verbs of the command line as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rechunk import _rechunk
from rechunk._rechunk import Cancel, Job
from rechunk.arrays import check_shape, filled, is_array, spilled
from rechunk.locations import located
from rechunk.planned import Plan, Report
from rechunk.progress import Progress, listener

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from rechunk.options import CopyKeywords, OpenKeywords, PlanKeywords, StoreKeywords

RUNNING = ("overwrite", "resume", "verify", "keep_temp", "no_fsync")
"""Options of a run that are none of its plan."""
STORES = ("store_option", "max_retries", "timeout", "bwlimit")
"""Options of stores, which are not saved with a plan."""


def plan(
    source: Any,
    target: Any = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[PlanKeywords],
) -> Plan:
    """Plans the copy of an array or of a group. Writes nothing.

    `source` and `target` are paths, URLs, or objects that name a store (see `rechunk.locations`); without
    a target the plan can be looked at, but not run. A source may be an array of NumPy: a file holds its
    elements as long as the plan is there. `storage_options` are those of fsspec.

    >>> import rechunk
    >>> rechunk.plan("sst.zarr", chunks=(-1, 4, 4), max_mem="64MiB").cost["source"]["get_requests"]
    10
    """
    return _plan(source, target, storage_options, dict(options))


def _plan(
    source: Any, target: Any, fsspec: Mapping[str, Any] | None, options: dict[str, Any]
) -> Plan:
    source, held = spilled(source)
    (read, written), options = located([source, target], fsspec, options)
    job = Job.prepare(read, written, options)
    return Plan(job, {name: options[name] for name in STORES if name in options}, held)


def copy(
    source: Any,
    target: Any,
    *,
    progress: Progress = None,
    cancel: Cancel | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[CopyKeywords],
) -> Report:
    """Re-cuts an array, or all arrays of a group, and returns the report.

    An array of NumPy may be the source, or the target, which is filled in place when all has been read; see
    `rechunk.arrays`.

    >>> import rechunk
    >>> report = rechunk.copy("sst.zarr", "small.zarr", chunks="time=2,lat=4,lon=keep", codec="zstd:3")
    >>> rechunk.verify("sst.zarr", "small.zarr")["equal"]
    True
    """
    given: dict[str, Any] = dict(options)
    running = {name: given[name] for name in RUNNING if name in given}
    planning = {name: value for name, value in given.items() if name not in running}
    if "verify" in running:
        planning["verify"] = running["verify"]
    if is_array(target):
        with filled(target) as path:
            planned = _plan(source, path, storage_options, planning)
            if not planned.is_group:
                check_shape(target, planned.report["plan"]["shape"])
            return planned.run(progress=progress, cancel=cancel, **running)
    planned = _plan(source, target, storage_options, planning)
    return planned.run(progress=progress, cancel=cancel, **running)


def info(
    location: Any,
    *,
    access: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[OpenKeywords],
) -> Report:
    """Describes an array (shape, type, chunks, codecs, attributes, sizes), or what is in a group.

    >>> import rechunk
    >>> rechunk.info("sst.zarr")["shape"]
    [10, 16, 16]
    """
    location, _held = spilled(location)
    (where,), given = located([location], storage_options, dict(options))
    found, _text = _rechunk.info(where, {**given, "access": access})
    return found


def verify(
    a: Any,
    b: Any,
    *,
    check: bool = False,
    progress: Progress = None,
    cancel: Cancel | None = None,
    storage_options: Mapping[str, Any] | None = None,
    max_mem: int | str | None = None,
    threads: int | None = None,
    **options: Unpack[OpenKeywords],
) -> Report:
    """Compares two arrays element by element, or two groups with all that is in them.

    `equal` of the report says whether they are. With `check=True` `DifferencesFound` is raised if not; it is
    raised anyway if their shapes or types differ. Either may be an array of NumPy.

    >>> import rechunk
    >>> rechunk.verify("sst.zarr", "sst.zarr", check=True)["differing_elements"]
    0
    """
    (a, _held_a), (b, _held_b) = spilled(a), spilled(b)
    (one, other), given = located([a, b], storage_options, dict(options))
    given = {**given, "max_mem": max_mem, "threads": threads}
    told, close = listener(progress)
    try:
        equal, compared = _rechunk.verify(one, other, given, told, cancel)
    finally:
        close()
    if check and not equal:
        from rechunk.errors import DifferencesFound

        count = compared.get("differing_elements")
        what = "differ" if count is None else f"differ in {count} elements"
        raise DifferencesFound(f"{one} and {other} {what}", location=other)
    return compared


def status(target: Any, **options: Unpack[StoreKeywords]) -> Report:
    """Says what became of a run: is it going on, was it interrupted, how far had it come?

    >>> import rechunk
    >>> rechunk.status("nothing-here.zarr")["state"]
    'none'
    """
    (where,), given = located([target], None, dict(options))
    return _rechunk.status(where, given)


def clean(target: Any, **options: Unpack[StoreKeywords]) -> Report:
    """Removes what an interrupted run has left: its state, its intermediate, incomplete chunks.

    >>> import rechunk
    >>> rechunk.clean("nothing-here.zarr")["target"].endswith("nothing-here.zarr")
    True
    """
    (where,), given = located([target], None, dict(options))
    return _rechunk.clean(where, given)


def migrate(
    location: Any,
    to: str = "zarr3",
    *,
    source_format: str | None = None,
    undo: bool = False,
    remove_old: bool = False,
    dry_run: bool = False,
    cancel: Cancel | None = None,
    **options: Unpack[StoreKeywords],
) -> Report:
    """Writes documents of another format over the chunks of an array or a group; no chunk moves.

    Zarr v2 and N5 become `zarr3`, and Zarr v3 with the keys of v2 becomes `zarr2`. The old documents stay unless
    `remove_old` is true; `undo` takes the new ones away again. `written` and `removed` of the report are the documents.

    >>> import rechunk
    >>> rechunk.migrate("sst.zarr", dry_run=True)["removed"]
    []
    """
    (where,), given = located([location], None, dict(options))
    asked = {"to": to, "undo": undo, "remove_old": remove_old, "dry_run": dry_run}
    return _rechunk.migrate(where, {**given, **asked, "source_format": source_format}, cancel)


def probe(
    location: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    read: str | None = None,
    bytes: int | str | None = None,
    seconds: float | None = None,
    **options: Unpack[StoreKeywords],
) -> Report:
    """Measures a store and this machine's codecs: `profile` and `probe` of the report.

    Objects are written below `location` and removed; with `read` that object is read, and nothing is
    written. `out` is the profile file that is written, for the option `profile`.

    >>> import rechunk
    >>> sorted(rechunk.probe(".", bytes="1MiB", seconds=1))  # measures for about a second
    ['probe', 'profile']
    """
    import os

    (where,), given = located([location], None, dict(options))
    path = None if out is None else os.fspath(out)
    given = {**given, "read": read, "bytes": bytes, "seconds": seconds}
    found, text = _rechunk.probe(where, path, given)
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return found
