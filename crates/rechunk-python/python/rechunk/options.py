"""Names and types of options, as the command line has them, with `_` for `-`.

Values are texts in the words of the command line, or what is natural in Python: whole numbers for sizes
and numbers, tuples and lists in C order or `dict`s by dimension name for shapes (`{"time": -1}`),
`slice`s for `select` and `region`, a `dict` for `codec` (the format's own JSON; or a codec of numcodecs or zarr), for `var`
(`{"air/*": {"chunks": (-1, 30, 30)}}`) and for `store_option` (`{"endpoint": …}`, or by location
`{"s3://bucket": {"endpoint": …}}`). `None` is as if the option were not given. The reference of the
command line says what each means; the variables `RECHUNK_*` are not looked at.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol, TypedDict, Union

Shape = Union[str, int, Sequence[Union[int, str, None]], Mapping[str, Union[int, str, None]]]
"""A shape by axis, in C order, or by dimension name; `-1` is the whole axis, `keep` as the source."""
Region = Union[str, Sequence[Union[slice, int, str]], Mapping[str, Union[slice, int, str]]]
"""A part of an array: START:STOP by axis, or by dimension name."""
Size = Union[int, str]
"""Bytes: a number, or a text like `512MiB`."""
Time = Union[int, float, str, timedelta]
"""Seconds, or a text like `90s` or `5m`."""
Texts = Union[str, Sequence[str]]


class NumcodecsCodec(Protocol):
    """A codec of numcodecs."""

    def get_config(self) -> Any: ...


class ZarrCodec(Protocol):
    """A codec of zarr-python 3."""

    def to_dict(self) -> Any: ...


Codec = Union[str, Mapping[str, Any], Sequence[Any], NumcodecsCodec, ZarrCodec, None]
"""A text like `zstd:5`, the format's own JSON, or an object that has it."""
FilePath = Union[str, "os.PathLike[str]"]


class StoreKeywords(TypedDict, total=False):
    """How stores are reached."""

    store_option: Texts | Mapping[str, str | Mapping[str, str]] | None
    max_retries: int | None
    timeout: Time | None
    bwlimit: Size | None


class OpenKeywords(StoreKeywords, total=False):
    """How what is read is opened."""

    axes: str | None
    source_format: str | None
    raw_shape: Shape | None
    raw_dtype: str | None
    raw_order: str | None
    raw_endian: str | None
    raw_offset: Size | None


class ResultKeywords(TypedDict, total=False):
    """What the target shall be."""

    chunks: Shape | None
    shards: Shape | None
    format: str | None
    codec: Codec
    cast: str | None
    write_empty: str | None


class ResourceKeywords(TypedDict, total=False):
    """What a job may use, and how fast that is."""

    max_mem: Size | None
    threads: int | None
    concurrency: int | None
    profile: FilePath | None
    source_profile: str | None
    temp_profile: str | None
    target_profile: str | None


class PlanKeywords(OpenKeywords, ResultKeywords, ResourceKeywords, total=False):
    """What the target shall be, and what decides the plan."""

    keep_extent: bool
    chunk_bytes: Size | None
    select: Region | None
    separator: str | None
    append: str | int | None
    region: Region | None
    trust: Texts | None
    n5_version: str | None
    max_missing: str | int | None
    include: Texts | None
    exclude: Texts | None
    var: Texts | Mapping[str, str | Mapping[str, Any]] | None
    coords: str | None
    no_others: bool
    as_: str | None
    strategy: str | None
    intermediate: str | None
    box_bytes: Size | None
    workers: int | None
    temp: FilePath | None
    verify: bool


class RunKeywords(TypedDict, total=False):
    """How a run treats what it finds and leaves."""

    overwrite: bool
    resume: bool
    verify: bool
    keep_temp: bool
    no_fsync: bool
    temp: FilePath | None


class PartKeywords(TypedDict, total=False):
    """How a part is run."""

    wait: Time | None
    no_fsync: bool
    verify: bool
    temp: FilePath | None


class CopyKeywords(PlanKeywords, total=False):
    """All that `copy` takes."""

    overwrite: bool
    resume: bool
    keep_temp: bool
    no_fsync: bool


Level = Union[str, Mapping[str, Any]]
"""A level of work chunks: `{"work": (64, 512, 512), "blend": (0, 16, 16)}`, also `crop` and `mode`."""


class ApplyKeywords(OpenKeywords, ResultKeywords, ResourceKeywords, RunKeywords, total=False):
    """All that `apply` takes beside sources, target, operation and work chunk."""

    crop: Shape | None
    blend: Shape | None
    blend_mode: str | None
    levels: Level | Sequence[Level] | None
    box: Region | None
    box_units: str | None
    expand: str | None
    shrink: bool
    auto_divide: bool
    gap: Shape | None
    reduce_max: Shape | None
    direct: bool
    defer: str | None
    clip: bool
    boundary: str | None
    missing: str | None
    round: str | None
    blend_labels: bool
    name: str | None
    dtype: Any
    halo: Shape | None
    labels: bool
    scratch: Size | None
    jobs: int | None
    returns: str | None
    update: bool
    dry_run: bool


Factors = Union[str, Mapping[str, int], Sequence[Union[str, int, Sequence[int], Mapping[str, int]]]]
"""Factors of each level against level 0: `[(1, 2, 2), (1, 4, 4)]`, or `[{"y": 2, "x": 2}]` by name."""


class PyramidKeywords(OpenKeywords, ResultKeywords, ResourceKeywords, RunKeywords, total=False):
    """All that `pyramid` takes beside the levels, and how they are made."""

    chunk_bytes: Size | None
    select: Region | None
    separator: str | None
    n5_version: str | None
    dry_run: bool
