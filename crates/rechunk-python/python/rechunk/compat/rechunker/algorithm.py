"""Planning functions of rechunker, with its signatures, values and kinds of exceptions.

They are those of our planner that plans are compared with. Where the original rounds the powers of
`numpy.geomspace`, these are exact: some extents of plans of several stages are larger by one.

>>> multistage_rechunking_plan((100, 100), (100, 1), (1, 100), 1, 10, 100)
[((100, 1), (10, 1), (10, 10)), ((10, 10), (1, 10), (1, 100))]
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod

from rechunk import _rechunk

MAX_STAGES = 100
"""Plans of so many stages are not tried."""

Chunks = tuple[int, ...]
Stage = tuple[Chunks, Chunks, Chunks]


class ExcessiveIOWarning(Warning):
    """Another stage would have made more requests, so that intermediate chunks stay small."""


def consolidate_chunks(
    shape: Sequence[int],
    chunks: Sequence[int],
    itemsize: int,
    max_mem: int,
    chunk_limits: Sequence[int | None] | None = None,
) -> Chunks:
    """Grows chunks towards their limits, the last axis first, while one fits `max_mem` bytes.

    >>> consolidate_chunks((8, 8), (1, 2), 4, 64)
    (2, 8)
    """
    for size, chunk, limit in zip(shape, chunks, chunk_limits or ()):
        if limit is not None and limit != -1 and min(limit, size) < chunk:
            raise ValueError(f"Invalid chunk_limits {chunk_limits}.")
    chunk_mem = itemsize * prod(chunks)
    if chunk_mem > max_mem:
        raise ValueError(f"chunk_mem {chunk_mem} > max_mem {max_mem}")
    limits = None if chunk_limits is None else list(chunk_limits)
    return tuple(_rechunk.consolidate_chunks(list(shape), list(chunks), itemsize, max_mem, limits))


def calculate_stage_chunks(
    read_chunks: Sequence[int], write_chunks: Sequence[int], stage_count: int = 1
) -> list[Chunks]:
    """Returns the chunks between stages, spaced geometrically.

    >>> calculate_stage_chunks((100, 1), (1, 100), 3)
    [(21, 4), (4, 21)]
    """
    found = _rechunk.calculate_stage_chunks(list(read_chunks), list(write_chunks), stage_count)
    return [tuple(chunks) for chunks in found]


def calculate_single_stage_io_ops(
    shape: Sequence[int], in_chunks: Sequence[int], out_chunks: Sequence[int]
) -> int:
    """Counts pairs of chunks of two grids that meet.

    >>> calculate_single_stage_io_ops((100,), (43,), (51,))
    4
    """
    return _rechunk.calculate_single_stage_io_ops(list(shape), list(in_chunks), list(out_chunks))


def rechunking_plan(
    shape: Sequence[int],
    source_chunks: Sequence[int],
    target_chunks: Sequence[int],
    itemsize: int,
    max_mem: int,
    consolidate_reads: bool = True,
    consolidate_writes: bool = True,
) -> Stage:
    """Plans one stage: the chunks that are read, kept between, and written."""
    check(shape, source_chunks, target_chunks, itemsize, max_mem)
    read, between, written = _rechunk.rechunking_plan(
        list(shape),
        list(source_chunks),
        list(target_chunks),
        itemsize,
        max_mem,
        consolidate_reads,
        consolidate_writes,
    )
    return tuple(read), tuple(between), tuple(written)


def multistage_rechunking_plan(
    shape: Sequence[int],
    source_chunks: Sequence[int],
    target_chunks: Sequence[int],
    itemsize: int,
    min_mem: int,
    max_mem: int,
    consolidate_reads: bool = True,
    consolidate_writes: bool = True,
) -> list[Stage]:
    """Plans the fewest stages whose chunks between have `min_mem` bytes or more."""
    check(shape, source_chunks, target_chunks, itemsize, max_mem)
    if max_mem < min_mem:
        raise ValueError(f"max_mem ({max_mem}) cannot be smaller than min_mem ({min_mem})")
    found, is_excessive = _rechunk.multistage_rechunking_plan(
        list(shape),
        list(source_chunks),
        list(target_chunks),
        itemsize,
        min_mem,
        max_mem,
        consolidate_reads,
        consolidate_writes,
    )
    if len(found) >= MAX_STAGES:
        raise AssertionError(
            "Failed to find a feasible multi-staging rechunking scheme: "
            f"no {MAX_STAGES - 1} stages have {min_mem} bytes between in {max_mem}"
        )
    if is_excessive:
        smallest = min(itemsize * prod(between) for _, between, _ in found)
        text = (
            "Search for multi-stage rechunking plan terminated: another stage makes more requests; "
            f"chunks between have {smallest} bytes, and not {min_mem}"
        )
        warnings.warn(text, ExcessiveIOWarning, stacklevel=2)
    return [(tuple(read), tuple(between), tuple(written)) for read, between, written in found]


def check(
    shape: Sequence[int],
    source_chunks: Sequence[int],
    target_chunks: Sequence[int],
    itemsize: int,
    max_mem: int,
) -> None:
    """Refuses what rechunker refuses, with its exceptions."""
    for name, chunks in (("source_chunks", source_chunks), ("target_chunks", target_chunks)):
        if len(chunks) != len(shape):
            raise ValueError(f"{name} {chunks} must have length {len(shape)}")
    for name, chunks in (("Source", source_chunks), ("Target", target_chunks)):
        needed = itemsize * prod(chunks)
        if needed > max_mem:
            raise ValueError(f"{name} chunk memory ({needed}) exceeds max_mem ({max_mem})")
