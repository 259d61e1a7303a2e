"""`rechunk.rechunk`, and the accessor of xarray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rechunk
import rechunk.xarray  # noqa: F401  (registers the accessor)
import xarray
import zarr
from conftest import make_array
from numcodecs import Zlib


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A data set as xarray writes it: a scale, a missing value, times, and a scalar."""
    air = xarray.DataArray(np.arange(8 * 6 * 6, dtype="f8").reshape(8, 6, 6), dims=("time", "lat", "lon"))
    data = xarray.Dataset({"air": air.where(air > 3), "mask": (("lat", "lon"), np.ones((6, 6), "i1"))})
    data = data.assign_coords(time=np.arange(8).astype("M8[D]"), lat=np.arange(6.0), height=2.0)
    encoding = {
        "air": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9, "chunks": (1, 6, 6)},
    }
    data.to_zarr(tmp_path / "ds.zarr", zarr_format=2, consolidated=True, encoding=encoding)
    return tmp_path / "ds.zarr"


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("chunks", [(10, 4, 4), [10, 4, 4], {"time": 10, "lat": 4, "lon": 4}, None])
def test_an_array_is_cut(tmp_path: Path, zarr_format: int, chunks: Any) -> None:
    source = zarr.open_array(str(make_array(tmp_path / "s.zarr", (10, 16, 16), (1, 16, 16), zarr_format)))
    done = rechunk.rechunk(source, chunks, 1600, str(tmp_path / "t.zarr"), temp_store=tmp_path / "temp")
    assert "Source" in repr(done) and done._repr_html_().startswith("<svg")
    target = done.execute()
    assert isinstance(target, zarr.Array) and target.metadata.zarr_format == zarr_format
    assert target.chunks == ((10, 4, 4) if chunks else (1, 16, 16))
    assert (target[...] == source[...]).all()
    assert done.execute()[0, 0, 0] == source[0, 0, 0], "a second time nothing is done"


def test_options_of_the_target(sst: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"compressor": Zlib(level=3)}
    target = rechunk.rechunk("sst.zarr", (10, 4, 4), "64MB", tmp_path / "t.zarr", options).execute()
    assert target.compressors == (Zlib(level=3),)
    with pytest.raises(rechunk.TargetError):
        rechunk.rechunk("sst.zarr", (10, 4, 4), "64MB", tmp_path / "t.zarr").execute()
    options = {"overwrite": True, "compressor": None}
    target = rechunk.rechunk("sst.zarr", (10, 4, 4), "64MB", tmp_path / "t.zarr", options).execute()
    assert target.compressors == ()


@pytest.mark.parametrize(
    "kind, chunks, options",
    [
        (ValueError, (10, 4), {}),
        (TypeError, 10, {}),
        (KeyError, {"time": 10}, {}),
        (ValueError, (10, 4, 4), {"chunks": (1, 1, 1)}),
    ],
)
def test_refusals_are_of_the_same_kind(sst: Path, kind: type[Exception], chunks: Any, options: Any) -> None:
    with pytest.raises(kind):
        rechunk.rechunk("sst.zarr", chunks, "64MB", "t.zarr", options)
    assert not (sst.parent / "t.zarr").exists()


def test_an_array_goes_into_a_group_by_its_name(sst: Path, tmp_path: Path) -> None:
    group = zarr.create_group(str(tmp_path / "g.zarr"), zarr_format=2)
    with pytest.raises(ValueError, match="without a name"):
        rechunk.rechunk("sst.zarr", (10, 4, 4), "64MB", group)
    rechunk.rechunk("sst.zarr", (10, 4, 4), "64MB", group, array_name="a").execute()
    assert group["a"].chunks == (10, 4, 4)
    target = rechunk.rechunk("sst.zarr", (10, 4, 4), "64MB", tmp_path / "t.zarr", array_name="a").execute()
    assert isinstance(target, zarr.Array)
    with pytest.raises(ValueError, match="array_name"):
        rechunk.rechunk(group, {"a": (1, 4, 4)}, "64MB", tmp_path / "u.zarr", array_name="a")


def test_options_of_what_lies_between_are_checked(sst: Path) -> None:
    with pytest.raises(ValueError, match="must not include chunks"):
        rechunk.rechunk("sst.zarr", (10, 4, 4), "64MB", "t.zarr", temp_options={"chunks": (1, 1, 1)})


def test_helpers_of_rechunker() -> None:
    from rechunk.compat.rechunker import api

    data = xarray.Dataset({"a": (("x", "y"), np.zeros((40, 6)))}, coords={"y": np.arange(6)})
    for chunks, expected in (({"x": 7}, (7, 6)), ({"x": -1, "y": 99}, (40, 6)), ({}, (40, 6))):
        assert api.parse_target_chunks_from_dim_chunks(data, chunks) == {"a": expected, "y": expected[1:]}
    assert api.get_dim_chunk(data.chunk(x=9).a, "x", {}) == 9
    with pytest.raises(ValueError, match="unrecognized executor"):
        api._get_executor("unknown")


def test_of_a_group_only_what_is_named(tmp_path: Path) -> None:
    zarr.create_group(str(tmp_path / "g.zarr"), zarr_format=2, attributes={"title": "t"})
    for name in ("a", "b", "c"):
        make_array(tmp_path / "g.zarr" / name, (8, 6, 6), (1, 6, 6))
    source = zarr.open_group(str(tmp_path / "g.zarr"))
    chunks = {"a": (8, 3, 3), "b": {"time": 4}}
    target = rechunk.rechunk(source, chunks, "64MB", tmp_path / "t.zarr", executor="threads").execute()
    assert sorted(target.array_keys()) == ["a", "b"] and target.attrs["title"] == "t"
    assert target["a"].chunks == (8, 3, 3) and target["b"].chunks == (4, 6, 6)
    assert (target["a"][...] == source["a"][...]).all()
    with pytest.raises(KeyError):
        rechunk.rechunk(source, {"zz": (8, 3, 3)}, "64MB", tmp_path / "u.zarr")


@pytest.mark.parametrize("chunks", [{"time": 8, "lat": 2, "lon": 3}, {"air": (8, 2, 3)}])
@pytest.mark.parametrize("how", ["lazy", "dask"])
def test_a_data_set_is_identical(dataset: Path, tmp_path: Path, chunks: Any, how: str) -> None:
    opened = xarray.open_zarr(dataset) if how == "dask" else xarray.open_dataset(dataset, engine="zarr")
    report = opened.rechunk_store.to_zarr(tmp_path / "t.zarr", chunks, max_mem="64MB")
    assert report["traffic"]["target"]["put_requests"] > 0
    again = xarray.open_zarr(tmp_path / "t.zarr")
    xarray.testing.assert_identical(again, opened)
    assert again["air"].encoding["chunks"] == (8, 2, 3)


CHANGES: dict[str, Any] = {
    "index": lambda data: data.assign_coords(lat=data.lat + 100),
    "reversed": lambda data: data.assign_coords(time=data.time[::-1].values),
    "dropped": lambda data: data.drop_vars("mask"),
    "selected": lambda data: data[["air"]],
    "renamed": lambda data: data.rename(air="b"),
    "swapped": lambda data: data.rename(air="mask", mask="air"),
    "dimension": lambda data: data.rename_dims(time="t"),
    "roles": lambda data: data.set_coords("mask"),
    "attributes": lambda data: data.assign_attrs(title="new"),
    "of a variable": lambda data: data.assign(air=data.air.assign_attrs(long_name="new")),
    "only indexes": lambda data: data.drop_vars(["air", "mask"]).isel(lat=slice(0, 2)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("how", ["lazy", "dask"])
def test_a_data_set_of_which_only_words_were_changed_is_refused(
    dataset: Path, tmp_path: Path, change: Any, how: str
) -> None:
    opened = xarray.open_zarr(dataset) if how == "dask" else xarray.open_dataset(dataset, engine="zarr")
    changed = change(opened)
    with pytest.raises(rechunk.UsageError, match="changed since the data set was opened") as refused:
        changed.rechunk_store.to_zarr(tmp_path / "t.zarr", dict.fromkeys(changed.dims, 2))
    assert refused.value.hint and not (tmp_path / "t.zarr").exists()
    with pytest.raises(rechunk.UsageError, match="changed"):
        rechunk.verify(changed, dataset)
    with pytest.raises(rechunk.UsageError, match="changed"):
        rechunk.copy(changed, tmp_path / "t.zarr")


def test_a_variable_of_another_store_is_refused(dataset: Path, tmp_path: Path) -> None:
    rechunk.copy(dataset, tmp_path / "other.zarr")
    other = xarray.open_zarr(tmp_path / "other.zarr")
    mixed = xarray.open_zarr(dataset).assign(air=other.air)
    with pytest.raises(rechunk.UsageError, match="another array"):
        rechunk.copy(mixed, tmp_path / "t.zarr")


@pytest.mark.parametrize(
    "way",
    [
        {"decode_cf": False},
        {"decode_times": False},
        {"mask_and_scale": False},
        {"decode_coords": "all"},
        {"decode_coords": False, "decode_times": False},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_a_data_set_may_be_opened_in_any_way(dataset: Path, tmp_path: Path, way: dict[str, Any]) -> None:
    for chunks in (None, {}):
        opened = xarray.open_zarr(dataset, chunks=chunks, **way)
        target = tmp_path / f"t{chunks}.zarr"
        opened.rechunk_store.to_zarr(target, {"time": 8, "lat": 2, "lon": 3})
        xarray.testing.assert_identical(xarray.open_zarr(target, **way), opened)


def test_a_data_set_that_was_changed_is_refused(dataset: Path, tmp_path: Path) -> None:
    for opened in (xarray.open_zarr(dataset), xarray.open_dataset(dataset, engine="zarr")):
        for changed in (opened * 2, opened.isel(time=slice(0, 2)), opened.load()):
            with pytest.raises(rechunk.UsageError, match="computed, selected, loaded"):
                changed.rechunk_store.to_zarr(tmp_path / "t.zarr", {"time": 8, "lat": 2, "lon": 3})
    with pytest.raises(rechunk.UsageError, match="computed"):
        xarray.open_zarr(dataset).isel(lat=0).rechunk_store.to_zarr(tmp_path / "t.zarr", {"time": 8})
    unknown = xarray.Dataset({"a": ("x", [1, 2])})
    with pytest.raises(rechunk.UsageError, match="to_zarr"):
        unknown.rechunk_store.to_zarr(tmp_path / "t.zarr", {"x": 1})
