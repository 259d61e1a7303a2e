"""Module `rechunker.api`: what programs import from there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rechunk.engines.driver import engine_of
from rechunk.errors import UsageError
from rechunk.rechunking import Rechunked, rechunk

__all__ = ["Rechunked", "get_dim_chunk", "parse_target_chunks_from_dim_chunks", "rechunk"]


def _get_executor(name: str) -> Any:
    """Starts the engine of that name, for this process alone."""
    try:
        return engine_of("threads" if name.lower() == "python" else name.lower(), 1)
    except UsageError as error:
        raise ValueError(f"unrecognized executor {name}: {error}") from None


def get_dim_chunk(array: Any, dim: str, target_chunks: Mapping[str, int]) -> int:
    """Returns the chunk along a dimension of an array of xarray: as wanted, else as it is, at most all of it.

    >>> class Array:
    ...     sizes, chunksizes = {"x": 100, "y": 10}, {"y": (4, 4, 2)}
    >>> [get_dim_chunk(Array, *given) for given in (("x", {"x": 30}), ("x", {}), ("y", {}), ("y", {"y": -1}))]
    [30, 100, 4, 10]
    """
    size = int(array.sizes[dim])
    wanted = target_chunks.get(dim)
    if wanted is None:
        wanted = max(array.chunksizes.get(dim) or (size,))
    return size if wanted == -1 else min(int(wanted), size)


def parse_target_chunks_from_dim_chunks(
    ds: Any, target_chunks: Mapping[str, int]
) -> dict[str, tuple[int, ...]]:
    """Returns the chunks of each variable of a data set, of chunks by dimension."""
    return {
        str(name): tuple(get_dim_chunk(variable, dim, target_chunks) for dim in variable.dims)
        for name, variable in ds.variables.items()
    }
