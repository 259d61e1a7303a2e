"""Arrays of NumPy as sources and targets."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rechunk
import zarr

VALUES = np.arange(20 * 30).reshape(20, 30)
OPTIONS: dict[str, Any] = {"chunks": (5, 10), "max_mem": "64MiB"}


@pytest.fixture(autouse=True)
def spill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The directory of temporary files, in which nothing is left."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    assert os.listdir(folder) == []


@pytest.mark.parametrize("dtype", ["f4", ">i2", "c16", "?", "M8[ns]", "U5"])
def test_an_array_is_written_and_read(tmp_path: Path, dtype: Any) -> None:
    source = VALUES.astype(dtype)
    report = rechunk.copy(source, tmp_path / "t.zarr", **OPTIONS)
    assert report["traffic"]["target"]["decoded_written_bytes"] > 0
    written = zarr.open_array(str(tmp_path / "t.zarr"), mode="r")
    assert written.chunks == (5, 10)
    assert (written[...] == source).all()
    again = np.empty_like(source)
    rechunk.copy(tmp_path / "t.zarr", again)
    assert (again == source).all()
    assert rechunk.verify(source, tmp_path / "t.zarr")["equal"]


@pytest.mark.parametrize("view", [VALUES.T, VALUES[::2, ::-3], np.asfortranarray(VALUES), VALUES[3:4, 0]])
def test_arrays_lie_as_they_like(tmp_path: Path, view: Any) -> None:
    rechunk.copy(view, tmp_path / "t.zarr", chunks=(4,) * view.ndim)
    assert (zarr.open_array(str(tmp_path / "t.zarr"), mode="r")[...] == view).all()
    around = np.zeros([3 * length for length in view.shape], view.dtype, order="F")
    target = around[tuple(slice(2 * length, 0, -2) for length in view.shape)]
    rechunk.copy(tmp_path / "t.zarr", target)
    assert (target == view).all()
    assert around.sum() == view.sum(), "nothing beside it is written"


def test_a_part_of_a_store_fills_an_array(sst: Path) -> None:
    out = np.full((2, 16, 4), -5, "f4")
    rechunk.copy("sst.zarr", out, select={"time": slice(3, 5), "lon": slice(8, 12)})
    assert (out == zarr.open_array("sst.zarr", mode="r")[3:5, :, 8:12]).all()
    rechunk.copy("sst.zarr", double := np.empty((10, 16, 16)), cast="float64")
    assert double[9, 15, 15] == 10 * 16 * 16 - 1


def test_what_does_not_fit_is_refused_and_nothing_is_written(sst: Path) -> None:
    for array, words in (
        (np.full((10, 16, 15), 7, "f4"), "shape"),
        (np.full((10, 16, 16), 7, "i4"), "data type"),
        (np.broadcast_to(np.float32(7), (10, 16, 16)), "cannot be written"),
        (np.ma.masked_equal(np.full((10, 16, 16), 7, "f4"), 1), "mask"),
    ):
        with pytest.raises(rechunk.UsageError, match=words):
            rechunk.copy("sst.zarr", array)
        assert (array == 7).all()
    objects = np.full((4, 4), None)
    huge = np.broadcast_to(np.float64(1), (1 << 15, 1 << 15))
    for source, words in ((objects, "objects"), (huge, "numpy.save")):
        with pytest.raises(rechunk.UsageError, match=words):
            rechunk.copy(source, "t.zarr", chunks=(1, 1))
    assert not Path("t.zarr").exists()


def test_a_failed_read_leaves_the_target_as_it_was(sst: Path) -> None:
    next(sst.glob("3.*")).write_bytes(b"damaged")
    out = np.full((10, 16, 16), 7, "f4")
    with pytest.raises(rechunk.SourceError):
        rechunk.copy("sst.zarr", out)
    assert (out == 7).all()


def test_a_plan_holds_what_it_reads(tmp_path: Path, spill: Path) -> None:
    source = VALUES.astype("i4")
    plan = rechunk.plan(source, tmp_path / "t.zarr", **OPTIONS)
    source[...] = 0  # it was taken as it was
    plan.execute("processes", parts=2)
    assert (zarr.open_array(str(tmp_path / "t.zarr"), mode="r")[...] == VALUES).all()
    assert len(os.listdir(spill)) == 1
    (folder,) = spill.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    del plan


def test_rechunk_takes_arrays(tmp_path: Path) -> None:
    target = rechunk.rechunk(VALUES, (20, 3), "64MB", tmp_path / "t.zarr").execute()
    assert target.chunks == (20, 3) and (target[...] == VALUES).all()
    assert rechunk.info(VALUES)["shape"] == [20, 30]
