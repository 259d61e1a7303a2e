"""Data sets of xarray that are nothing else than their stores."""

from __future__ import annotations

from typing import Any

from rechunk.errors import UsageError

_STORED = ("original-open_dataset-", "open_dataset-", "rechunk-")
"""Layers of Dask's graphs that give what is stored, cut in whatever way."""


def check_stored(data: Any) -> None:
    """Refuses a data set of which a variable was computed, selected or loaded since it was opened.

    xarray goes on to name the store of what was computed from it; to copy that store would be wrong.
    """
    coordinates = set(getattr(data, "indexes", ()))
    variables = data.variables if hasattr(data, "data_vars") else {data.name: data.variable}
    for name, variable in variables.items():
        if name not in coordinates and not _is_stored(variable._data):
            raise UsageError(
                f"the variable {name!r} is not what the store {data.encoding.get('source')} holds: "
                "it was computed, selected or loaded since the data set was opened",
                array=str(name),
                hint="write it with to_zarr first; or give the path of the store, and select= for a part",
            )


def _is_stored(values: Any) -> bool:
    if hasattr(values, "dask"):
        return all(str(layer).startswith(_STORED) for layer in values.dask.layers)
    while values is not None:
        key = getattr(values, "key", None)
        if key is not None:
            return all(part == slice(None) for part in key.tuple if isinstance(part, slice)) and all(
                isinstance(part, slice) for part in key.tuple
            )
        values = getattr(values, "array", None)
    return False
