"""Data sets of xarray that are nothing else than their stores."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

from rechunk.errors import UsageError

_STORED = ("original-open_dataset-", "open_dataset-", "rechunk-")
"""Layers of Dask's graphs that give what is stored, cut in whatever way."""

_WAYS: dict[str, tuple[Any, ...]] = {
    "decode_coords": (True, "all", False),
    "mask_and_scale": (True, False),
    "decode_times": (True, False),
    "use_cftime": (None, True),
    "decode_timedelta": (None, True, False),
    "concat_characters": (True, False),
}
"""Words of `xarray.decode_cf` that change what a store is opened as; the usual ones first."""


def check_stored(data: Any) -> None:
    """Refuses a data set that is not what its store is opened as.

    xarray goes on to name the store of what was computed from it; to copy that store would be wrong.
    """
    source = data.encoding.get("source")
    if not hasattr(data, "data_vars"):
        data = data.to_dataset(name=data.name or "it")
    arrays = {}
    for name, variable in data.variables.items():
        if name in data.indexes:
            continue  # it is in memory, and compared
        if not _is_stored(variable._data):
            raise _changed(source, f"the variable {name!r} is not what the store holds", name)
        if (array := _array(variable._data)) is not None:
            arrays[name] = array
    stored = _stored(source, arrays)
    homes = {str(getattr(array, "store_path", array)).rpartition("/")[0] for array in arrays.values()}
    moved = [name for name, array in arrays.items() if array.path.rpartition("/")[2] != str(name)]
    if moved or len(homes) > 1:
        name = moved[0] if moved else next(iter(arrays))
        raise _changed(source, f"the variable {name!r} is another array of the store, or of another one", name)
    if found := _difference(data, stored):
        first, name = found
        raise _changed(source, first, name)


def _changed(source: Any, what: str, name: Any) -> UsageError:
    return UsageError(
        f"{what} ({source}): it was computed, selected, loaded or changed since the data set was opened",
        array="" if name is None else str(name),
        hint="write it with to_zarr first; or give the path of the store, with select= or exclude= for a part",
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


def _array(values: Any) -> Any:
    """Finds the array of zarr that lies behind lazy values; None if there is none."""
    if hasattr(values, "dask"):
        layers = values.dask.layers
        origin = next((name for name in layers if str(name).startswith("original-")), None)
        node = None if origin is None else dict(layers[origin]).get(origin)
        values = getattr(node, "value", node)
    while values is not None:
        if type(values).__module__.partition(".")[0] == "zarr" and type(values).__name__ == "Array":
            return values
        values = getattr(values, "array", None) if not hasattr(values, "_array") else values._array
    return None


def _stored(source: Any, arrays: dict[Any, Any]) -> Any:
    """Opens the store again, and decodes nothing."""
    import xarray

    array = next(iter(arrays.values()), None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if array is None:
                return xarray.open_zarr(source, chunks=None, decode_cf=False)
            group = array.path.rpartition("/")[0] or None
            return xarray.open_zarr(array.store, group=group, chunks=None, decode_cf=False)
    except Exception as error:  # as many kinds as there are stores
        raise UsageError(
            f"the data set cannot be compared with its store {source}: {error}",
            hint="give the path of its store",
        ) from None


def _ways(stored: Any) -> Iterator[Any]:
    """Decodes a data set in each way that it can be opened in, the usual one first."""
    import xarray

    for words in itertools.product(*_WAYS.values()):
        way = {name: word for name, word in zip(_WAYS, words) if word is not None}
        try:
            yield xarray.decode_cf(stored.copy(), **way)  # it takes attributes away
        except Exception:  # noqa: S112  (times that this way does not read)
            continue
    yield stored


def _difference(data: Any, stored: Any) -> tuple[str, Any] | None:
    """Says the first difference from what the store is opened as usually; None if one way gives the same."""
    if names := sorted(set(map(str, stored.variables)) - set(map(str, data.variables))):
        return f"the store has also {', '.join(map(repr, names))}, which the data set has not", None
    if names := sorted(set(map(str, data.variables)) - set(map(str, stored.variables))):
        return f"the store has no {', '.join(map(repr, names))}", names[0]
    first = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for way in _ways(stored):
            found = _different(data, way)
            if found is None:
                return None
            first = first or found
    return first


def _different(data: Any, way: Any) -> tuple[str, Any] | None:
    import xarray

    for name, variable in data.variables.items():
        other = way.variables[name]
        if variable.dims != other.dims:
            return f"the store has {name!r} along {other.dims}, not {variable.dims}", name
        if variable.shape != other.shape:
            return f"the store has {name!r} of the shape {other.shape}, not {variable.shape}", name
        if not xarray.Variable((), 0, variable.attrs).identical(xarray.Variable((), 0, other.attrs)):
            return f"the attributes of {name!r} are not those of the store", name
        if name in data.indexes and not variable.equals(other):
            return f"the values of {name!r} are not those of the store", name
    if set(data.coords) != set(way.coords):
        names = sorted(map(str, set(data.coords) ^ set(way.coords)))
        return f"which variables are coordinates has changed ({', '.join(names)})", names[0]
    if not xarray.Variable((), 0, data.attrs).identical(xarray.Variable((), 0, way.attrs)):
        return "the attributes of the data set are not those of the store", None
    return None
