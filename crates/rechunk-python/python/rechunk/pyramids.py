"""The verb `pyramid`: an image in several resolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rechunk import _rechunk
from rechunk._rechunk import Cancel
from rechunk.arrays import is_array, spilled
from rechunk.errors import UsageError
from rechunk.locations import located
from rechunk.planned import Report
from rechunk.progress import Progress, listener

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from rechunk.options import Factors, PyramidKeywords


def pyramid(
    source: Any,
    target: Any,
    *,
    factors: Factors | None = None,
    levels: int | None = None,
    until: int | None = None,
    method: str | None = None,
    labels: bool = False,
    size: str = "floor",
    from_: str = "s0",
    round: str = "half-away",
    missing: str = "fill",
    as_: str | None = None,
    progress: Progress = None,
    cancel: Cancel | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[PyramidKeywords],
) -> Report:
    """Makes an image in several resolutions of an array, or adds levels to an image.

    `source` is the array that is level 0, or an image (OME-Zarr, N5, GeoZarr), whose level 0 is
    taken; it may be an array of NumPy. `target` is the image to write, or that of the source, to
    add levels to it. The report has the levels in `pyramid`. With `dry_run=True` nothing is
    written, and the report is that of the plan.

    The levels are one of three: `factors` against level 0, a tuple for each level in C order or a
    `dict` by the name of the axis; `levels` below level 0, each half as large along the axes of
    space; or as many as it takes `until` no axis of space has more elements.

    `method` is `mean`, `mode`, `median`, `min`, `max`, `stride` or `gaussian`; without it the mean,
    of labels the mode. `labels=True` says that elements are labels. `size="ceil"` keeps cells that
    the end of the array cuts. Each level is computed from level 0, with `from_="previous"` from the
    level before as it was rounded. `round` is how means become integers: `half-away` from zero,
    `half-even` or `down`. With `missing="skip"` chunks that are not stored do not count. `as_` is
    the metadata that is written: `ome-zarr-0.5`, `ome-zarr-0.4`, `ome-zarr-0.6`, `bdv-n5`,
    `n5-viewer`, `geozarr` or `plain`.

    >>> import rechunk
    >>> report = rechunk.pyramid("sst.zarr", "sst.ome.zarr", factors=[(1, 2, 2), (1, 4, 4)])
    >>> [level["shape"] for level in report["pyramid"]["levels"]]
    [[10, 16, 16], [10, 8, 8], [10, 4, 4]]
    >>> more = rechunk.pyramid("sst.ome.zarr", "sst.ome.zarr", factors=[{"lat": 8, "lon": 8}])
    >>> [level["path"] for level in more["pyramid"]["levels"]]
    ['s3']
    """
    if is_array(target):
        raise UsageError(
            "the target is an array of NumPy, which has one resolution",
            hint="give the location of a store",
        )
    given: dict[str, Any] = {
        **options,
        "factors": factors,
        "levels": levels,
        "until": until,
        "method": method,
        "labels": labels,
        "size": size,
        "from_": from_,
        "round": round,
        "missing": missing,
        "as_": as_,
    }
    source, _held = spilled(source)
    (read, written), given = located([source, target], storage_options, given)
    told, close = listener(progress)
    try:
        return _rechunk.pyramid(read, written, given, told, cancel)
    finally:
        close()
