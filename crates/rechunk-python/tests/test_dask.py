"""`rechunk.dask.optimize`: what it takes, and what it leaves alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
import xarray
import zarr

optimize = importlib.import_module("rechunk.dask").optimize
SHAPE = (20, 30)
VALUES = np.arange(600, dtype="f4").reshape(SHAPE)


@pytest.fixture
def source(tmp_path: Path) -> zarr.Array:
    array = zarr.create_array(str(tmp_path / "a.zarr"), shape=SHAPE, chunks=(1, 30), dtype="f4", fill_value=-1)
    array[...] = VALUES
    array.attrs["of"] = "source"
    return array


@pytest.fixture
def made(tmp_path: Path) -> zarr.Array:
    array = zarr.create_array(str(tmp_path / "b.zarr"), shape=SHAPE, chunks=(20, 3), dtype="f4", fill_value=-2)
    array.attrs["of"] = "target"
    return array


def stored(tmp_path: Path) -> Any:
    return zarr.open_array(str(tmp_path / "b.zarr"), mode="r")


TAKEN: dict[str, Callable[[Any, Any, Path], Any]] = {
    "to_zarr": lambda a, b, p: da.from_zarr(a).rechunk((20, 3)).to_zarr(str(p / "b.zarr"), overwrite=True),
    "later": lambda a, b, p: da.from_zarr(a).rechunk((20, 3)).to_zarr(b, compute=False).compute(),
    "two": lambda a, b, p: da.from_zarr(a).rechunk((5, 6)).rechunk((20, 3)).to_zarr(b),
    "from_array": lambda a, b, p: da.from_array(a, chunks=(4, 30)).rechunk((20, 3)).to_zarr(b),
    "store": lambda a, b, p: da.store(da.from_zarr(a).rechunk((20, 3)), b),
    "store whole region": lambda a, b, p: da.store(
        da.from_zarr(a).rechunk((20, 3)), b, regions=(slice(0, 20), slice(None)), lock=False
    ),
    "read in chunks of the target": lambda a, b, p: da.from_zarr(a, chunks=(20, 3)).to_zarr(b),
    "all of it": lambda a, b, p: da.from_zarr(a)[:, :].rechunk((20, 3)).to_zarr(b),
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_copy_is_done_by_a_plan(
    source: Any, made: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("chunks go through Dask")

    with optimize(max_mem="64MiB") as seen, monkeypatch.context() as patch:
        if name != "all of it":
            patch.setattr(zarr.Array, "__getitem__", never)
            patch.setattr(zarr.Array, "__setitem__", never)
        TAKEN[name](source, made, tmp_path)
    assert seen.left == []
    (copied,) = seen.replaced
    assert copied.source == str(tmp_path / "a.zarr") and copied.target == str(tmp_path / "b.zarr")
    assert (stored(tmp_path)[...] == VALUES).all()
    assert stored(tmp_path).chunks == (20, 3)
    if name not in ("to_zarr",):
        assert stored(tmp_path).attrs["of"] == "target" and stored(tmp_path).fill_value == -2
    assert not (tmp_path / "b.zarr.rechunk").exists()


LEFT: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "computed before": ("computed", lambda a, b: (da.from_zarr(a) + 0).rechunk((20, 3)).to_zarr(b)),
    "computed after": ("computed", lambda a, b: (da.from_zarr(a).rechunk((20, 3)) * 1).to_zarr(b)),
    "reversed": ("computed", lambda a, b: da.from_zarr(a)[::-1][::-1].rechunk((20, 3)).to_zarr(b)),
    "of two": ("computed", lambda a, b: da.concatenate([da.from_zarr(a)[:9], da.from_zarr(a)[9:]]).to_zarr(b)),
    "kept": ("asked for", lambda a, b: da.store(da.from_zarr(a).rechunk((20, 3)), b, return_stored=True)[0].compute()),
    "from memory": ("computed (layer array-", lambda a, b: da.from_array(VALUES, chunks=5).rechunk((20, 3)).to_zarr(b)),
    "in memory": (
        "memory",
        lambda a, b: da.from_zarr(zarr.array(VALUES, store=zarr.storage.MemoryStore())).rechunk((20, 3)).to_zarr(b),
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_proven_is_left_to_dask(source: Any, made: Any, tmp_path: Path, name: str) -> None:
    reason, call = LEFT[name]
    with optimize(max_mem="64MiB") as seen:
        call(source, made)
    assert seen.replaced == []
    assert any(reason in left.reason for left in seen.left), seen.left
    assert (stored(tmp_path)[...] == VALUES).all()


def test_a_name_alone_proves_nothing(source: Any, made: Any, tmp_path: Path) -> None:
    read = da.from_zarr(source, chunks=SHAPE)
    tasks = {("rechunk-merge-x", 0, 0): (np.negative, (read.name, 0, 0))}
    graph = dask.highlevelgraph.HighLevelGraph.from_collections("rechunk-merge-x", tasks, dependencies=[read])
    with optimize() as seen:
        da.Array(graph, "rechunk-merge-x", read.chunks, meta=read._meta).to_zarr(made)
    assert seen.replaced == [] and "computed" in seen.left[0].reason
    assert (stored(tmp_path)[...] == -VALUES).all()


def test_another_type_and_a_region_are_left(source: Any, tmp_path: Path) -> None:
    wide = zarr.create_array(str(tmp_path / "w.zarr"), shape=(40, 30), chunks=(20, 3), dtype="f8")
    with optimize() as seen:
        da.store(da.from_zarr(source), wide, regions=(slice(20, 40), slice(None)))
    assert seen.replaced == [] and "region" in seen.left[0].reason
    assert (wide[20:] == VALUES).all()
    other = zarr.create_array(str(tmp_path / "o.zarr"), shape=SHAPE, chunks=(20, 3), dtype="f8")
    with optimize() as seen:
        da.store(da.from_zarr(source), other)
    assert seen.replaced == [] and "type" in seen.left[0].reason
    assert (other[...] == VALUES).all()


def test_numbers_stay_numbers(source: Any, made: Any, tmp_path: Path) -> None:
    source.attrs.update(units="days since 2000-01-01", scale_factor=2.0)
    with optimize() as seen:
        da.from_zarr(source).rechunk((20, 3)).to_zarr(made)
    assert len(seen.replaced) == 1 and (stored(tmp_path)[...] == VALUES).all()
    made.attrs.update(units="days since 1970-01-01")
    with optimize() as seen:
        da.from_zarr(source).rechunk((20, 3)).to_zarr(made)
    assert seen.replaced == [] and "units" in seen.left[0].reason
    assert (stored(tmp_path)[...] == VALUES).all()


def test_limits_of_cells_stay_numbers(tmp_path: Path) -> None:
    made = {}
    for name, units in (("a", "days since 2000-01-01"), ("b", "hours since 1999-12-31")):
        group = zarr.create_group(tmp_path / name)
        attributes = {"units": units, "bounds": "time_bnds"}
        group.create_array("time", data=np.arange(4.0), dimension_names=["time"], attributes=attributes)
        limits = np.stack([np.arange(4.0), np.arange(4.0) + 1], 1)
        made[name] = group.create_array("time_bnds", data=limits, dimension_names=["time", "nv"])
    made["b"][...] = 0
    with optimize() as seen:
        da.store(da.from_zarr(made["a"]), made["b"])
    assert seen.replaced == [] and "count its times anew" in seen.left[0].reason
    assert (made["b"][...] == made["a"][...]).all()


def test_an_array_that_is_stored_into_itself_is_left_to_dask(source: Any) -> None:
    with optimize() as seen:
        da.store(da.from_zarr(source), source)
    assert seen.replaced == [] and "the source is the target" in seen.left[0].reason
    assert (source[...] == VALUES).all()


def test_data_sets_of_xarray(tmp_path: Path) -> None:
    data = xarray.Dataset({name: (("x", "y"), VALUES + i) for i, name in enumerate("ab")})
    data["s"] = (("x", "y"), VALUES)
    data["s"].encoding = {"scale_factor": 0.5, "dtype": "i4", "_FillValue": -1}
    data.chunk(x=1).to_zarr(tmp_path / "x.zarr", zarr_format=2, encoding={v: {"_FillValue": None} for v in "ab"})
    opened = xarray.open_zarr(tmp_path / "x.zarr").chunk(x=20, y=3)
    for variable in opened.variables.values():
        variable.encoding.pop("chunks", None)
        variable.encoding.pop("preferred_chunks", None)
    with optimize(max_mem="64MiB") as seen:
        opened.to_zarr(tmp_path / "y.zarr", zarr_format=2)
    again = xarray.open_zarr(tmp_path / "y.zarr")
    xarray.testing.assert_identical(again.load(), data)
    assert sorted(Path(copied.target).name for copied in seen.replaced) == ["a", "b"], seen
    assert [Path(left.target).name for left in seen.left] == ["s"]


@pytest.mark.parametrize("method", ["tasks", "p2p"])
def test_under_a_cluster(source: Any, made: Any, tmp_path: Path, method: str) -> None:
    from distributed import Client, LocalCluster

    settings: dict[str, Any] = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=1, host="127.0.0.1", **settings) as cluster, Client(cluster):
        with dask.config.set({"array.rechunk.method": method}), optimize(max_mem="64MiB") as seen:
            da.from_zarr(source).rechunk((20, 3)).to_zarr(made)
    assert len(seen.replaced) == 1 and seen.left == []
    assert (stored(tmp_path)[...] == VALUES).all()


def test_it_ends_with_the_block_and_keeps_what_was_set(source: Any, made: Any) -> None:
    called: list[int] = []

    def mine(graph: Any, keys: Any, **_: Any) -> Any:
        called.append(len(graph.layers))
        return graph

    with dask.config.set(array_optimize=mine):
        with optimize() as seen:
            da.from_zarr(source).rechunk((20, 3)).to_zarr(made)
        assert called and len(seen.replaced) == 1
        da.from_zarr(source).rechunk((20, 3)).to_zarr(made)
    assert len(called) == 2 and len(seen.replaced) == 1
    with pytest.raises(ZeroDivisionError), optimize():
        1 / 0  # noqa: B018
    assert dask.config.get("array_optimize", None) is None
