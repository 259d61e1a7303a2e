"""Names of stores: of each object that stands for one, the location by which it is reached."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from rechunk.errors import UsageError

_GIVE = "give the path or the URL of the store instead"

_FSSPEC_KEYS = {
    "key": "access_key_id",
    "secret": "secret_access_key",
    "token": "session_token",
    "endpoint_url": "endpoint",
    "region_name": "region",
    "account_name": "account_name",
    "account_key": "account_key",
    "sas_token": "sas_token",
    "project": None,
    "asynchronous": None,
    "use_listings_cache": None,
    "skip_instance_cache": None,
    "default_block_size": None,
    "default_fill_cache": None,
    "config_kwargs": None,
    "auto_mkdir": None,
}


def locate(store: Any) -> tuple[str, list[str]]:
    """Returns the location of `store` and the options (`KEY=VALUE`) by which it is reached.

    >>> locate("s3://bucket/data.zarr")
    ('s3://bucket/data.zarr', [])
    >>> locate(os.path.join(os.getcwd(), "sst.zarr")) == locate("sst.zarr")
    True
    """
    if isinstance(store, (str, os.PathLike)):
        return _of_path(os.fspath(store)), []
    module = type(store).__module__.partition(".")[0]
    return _READERS.get(module, _unknown)(store)


def located(
    stores: Sequence[Any], fsspec: Mapping[str, Any] | None, options: dict[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """Returns locations, and the options with those by which their stores are reached.

    The last of several may be None, a target that there is not: its location is empty.
    """
    found = storage_options(fsspec)
    locations = []
    for number, store in enumerate(stores):
        is_left_out = store is None and 0 < number == len(stores) - 1
        (location, reached) = ("", []) if is_left_out else locate(store)
        locations.append(location)
        found += [option for option in reached if option not in found]
    if found:
        found += _texts(options.get("store_option"))  # what is said by name counts
        options = {**options, "store_option": found}
    if options.get("temp") is not None:
        options = {**options, "temp": locate(options["temp"])[0]}
    return locations, options


def _texts(given: Any) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if not isinstance(given, dict):
        return list(given)
    texts = []
    for key, value in given.items():
        below = value.items() if isinstance(value, dict) else None
        texts += [f"{key},{k}={v}" for k, v in below] if below else [f"{key}={value}"]
    return texts


def _of_path(path: str | bytes) -> str:
    text = os.fsdecode(path)
    if "://" in text or text.startswith("memory:"):
        return text
    # A plan is run where another directory may be the current one.
    return os.path.abspath(text)


def _unknown(store: Any) -> tuple[str, list[str]]:
    kind = f"{type(store).__module__}.{type(store).__qualname__}"
    raise UsageError(f"an object of the type {kind} names no store that can be reached", hint=_GIVE)


def _in_memory(store: Any) -> tuple[str, list[str]]:
    raise UsageError(
        f"{type(store).__name__} is in the memory of this interpreter, where rechunk cannot read it",
        hint="write it to a directory or an object store first, and give its path",
    )


def _below(found: tuple[str, list[str]], path: str) -> tuple[str, list[str]]:
    return (f"{found[0].rstrip('/')}/{path}" if path else found[0]), found[1]


def _of_zarr(node: Any) -> tuple[str, list[str]]:
    """Locates an array, a group or a store of zarr-python 2 or 3."""
    if hasattr(node, "store") and hasattr(node, "attrs"):
        return _below(locate(node.store), str(node.path).strip("/"))
    kind = type(node).__name__
    if kind == "StorePath":
        return _below(locate(node.store), str(node.path).strip("/"))
    if kind == "LocalStore":
        return _of_path(str(node.root)), []
    if kind in ("DirectoryStore", "NestedDirectoryStore", "ZipStore"):
        return _of_path(str(node.path)), []
    if kind == "FsspecStore" or kind == "FSStore":
        return _of_fs(node.fs, str(node.path))
    if kind == "ObjectStore":
        return locate(node.store)
    if kind == "KVStore":
        return locate(node._mutable_mapping)
    for inside in ("_store", "store"):
        if hasattr(node, inside):
            return locate(getattr(node, inside))
    return _in_memory(node)


def _of_xarray(data: Any) -> tuple[str, list[str]]:
    source = data.encoding.get("source")
    if not source:
        raise UsageError(
            "the data set does not say which store it was opened from (encoding['source'])",
            hint="give the path of its store, or write it with to_zarr first",
        )
    from rechunk.datasets import check_stored

    check_stored(data)
    return _of_path(str(source)), []


def _of_fsspec(store: Any) -> tuple[str, list[str]]:
    return _of_fs(store.fs, str(store.root)) if hasattr(store, "root") else _unknown(store)


def _of_fs(fs: Any, path: str) -> tuple[str, list[str]]:
    if hasattr(fs, "sync_fs"):  # a local one that is called as if it were asynchronous
        fs = fs.sync_fs
    protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
    if protocol in ("file", "local"):
        return _of_path(path), []
    schemes = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs", "az": "az", "abfs": "az"}
    if protocol in ("http", "https"):
        return path, []
    if protocol == "memory":
        return _in_memory(fs)
    if protocol not in schemes:
        raise UsageError(f"stores of fsspec's {protocol!r} cannot be reached", hint=_GIVE)
    options = storage_options(getattr(fs, "storage_options", {}))
    return f"{schemes[protocol]}://{path.partition('://')[2] or path}", options


def storage_options(options: Mapping[str, Any] | None) -> list[str]:
    """Returns fsspec's `storage_options` as options of stores.

    >>> storage_options({"anon": True, "endpoint_url": "http://127.0.0.1:9000"})
    ['skip_signature=true', 'endpoint=http://127.0.0.1:9000']
    """
    found: list[str] = []
    for name, value in (options or {}).items():
        if value is None:
            continue
        if name == "client_kwargs":
            found += storage_options(value)
        elif name == "anon":
            found += ["skip_signature=true"] if value else []
        elif name not in _FSSPEC_KEYS:
            raise UsageError(
                f"storage_options: {name} is not understood",
                hint="give store_option={KEY: VALUE} with the keys that rechunk has",
            )
        elif (key := _FSSPEC_KEYS[name]) is not None:
            found.append(f"{key}={value}")
    return found


def _of_obstore(store: Any) -> tuple[str, list[str]]:
    kind = type(store).__name__
    if kind == "LocalStore":
        return _of_path(str(store.prefix)), []
    if kind == "MemoryStore":
        return _in_memory(store)
    schemes = {"S3Store": "s3", "GCSStore": "gs", "AzureStore": "az"}
    if kind not in schemes:
        return _unknown(store)
    config = dict(store.config)
    bucket = next((config.pop(name) for name in ("bucket", "container_name") if name in config), None)
    if bucket is None:
        return _unknown(store)
    options = [f"{key}={_word(value)}" for key, value in config.items()]
    return _below((f"{schemes[kind]}://{bucket}", options), str(store.prefix or "").strip("/"))


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of_icechunk(store: Any) -> tuple[str, list[str]]:
    snapshot = getattr(getattr(store, "session", store), "snapshot_id", "ID")
    raise UsageError(
        "an object of Icechunk does not say where its repository is",
        hint=f"give the path or the URL of the repository: REPOSITORY#snapshot={snapshot}/PATH",
    )


_READERS = {
    "zarr": _of_zarr,
    "xarray": _of_xarray,
    "fsspec": _of_fsspec,
    "obstore": _of_obstore,
    "icechunk": _of_icechunk,
}
