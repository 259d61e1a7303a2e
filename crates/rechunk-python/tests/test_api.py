"""The functions and `Plan`, against the command line."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import rechunk
import zarr
from conftest import files, make_array

Cli = Callable[..., dict[str, Any]]


def test_a_copy_is_that_of_the_command_line(cube: Path, tmp_path: Path, cli: Cli) -> None:
    ours = rechunk.copy(cube, tmp_path / "a.zarr", chunks=(-1, 8, 8), max_mem="64MiB", threads=2)
    theirs = cli("copy", cube, tmp_path / "b.zarr", "--chunks=-1,8,8", "--max-mem=64MiB", "--threads=2")
    assert files(tmp_path / "a.zarr") == files(tmp_path / "b.zarr")
    assert ours["plan"]["fingerprint"] == theirs["plan"]["fingerprint"]
    assert ours["traffic"] == theirs["traffic"]
    assert ours.keys() == theirs.keys()


def test_reports_are_those_of_the_command_line(cube: Path, tmp_path: Path, cli: Cli) -> None:
    options: dict[str, Any] = {"chunks": {"time": -1, "lat": 8, "lon": 8}, "max_mem": 64 << 20, "threads": 2}
    words = ["--chunks", "time=-1,lat=8,lon=8", "--max-mem", "64MiB", "--threads", 2]
    assert rechunk.plan(cube, **options).report == cli("plan", cube, *words)
    assert rechunk.info(cube) == cli("info", cube)
    rechunk.copy(cube, tmp_path / "t.zarr", **options)
    assert rechunk.verify(cube, tmp_path / "t.zarr") == cli("verify", cube, tmp_path / "t.zarr")
    assert rechunk.status(tmp_path / "t.zarr") == cli("status", tmp_path / "t.zarr")
    assert rechunk.clean(tmp_path / "t.zarr") == cli("clean", tmp_path / "t.zarr")


@pytest.mark.parametrize(
    "options, words",
    [
        ({"chunks": [64, "keep", 8]}, ["--chunks=64,keep,8"]),
        ({"chunks": (-1, None, 8)}, ["--chunks=-1,keep,8"]),
        ({"chunks": (np.int64(-1), 8, 8)}, ["--chunks=-1,8,8"]),
        ({"chunks": (8, 8, 8), "codec": "zstd:5"}, ["--chunks=8,8,8", "--codec=zstd:5"]),
        ({"codec": numcodecs.Zlib(3), "format": "zarr2"}, ["--codec=zlib:3", "--format=zarr2"]),
        ({"codec": zarr.codecs.GzipCodec(level=2), "format": "zarr3"}, ["--codec=gzip:2", "--format=zarr3"]),
        ({"select": {"time": slice(0, 8)}}, ["--select=time=0:8"]),
        ({"select": (slice(None), slice(8, None), 0)}, ["--select=:,8:,0"]),
        ({"cast": "float64", "format": "zarr2"}, ["--cast=float64", "--format=zarr2"]),
        (
            {"codec": [{"name": "bytes", "configuration": {"endian": "big"}}]},
            ['--codec=[{"name": "bytes", "configuration": {"endian": "big"}}]'],
        ),
    ],
)
def test_options_mean_what_their_words_mean(
    cube: Path, tmp_path: Path, cli: Cli, options: dict[str, Any], words: list[str]
) -> None:
    rechunk.copy(cube, tmp_path / "a.zarr", **options)
    cli("copy", cube, tmp_path / "b.zarr", *words)
    assert files(tmp_path / "a.zarr") == files(tmp_path / "b.zarr")


def test_groups_take_rules(tmp_path: Path, cli: Cli) -> None:
    zarr.create_group(str(tmp_path / "g.zarr"), zarr_format=2)
    for name in ("air", "sea", "mask"):
        make_array(tmp_path / "g.zarr" / name, (8, 12, 12), (1, 12, 12))
    rechunk.copy(
        tmp_path / "g.zarr",
        tmp_path / "a.zarr",
        var={"air": {"chunks": (-1, 4, 4), "codec": "none"}, "sea": "chunks 2,12,12"},
        exclude="mask",
    )
    rules = ["--var", "air: chunks -1,4,4; codec none", "--var", "sea: chunks 2,12,12"]
    cli("copy", tmp_path / "g.zarr", tmp_path / "b.zarr", *rules, "--exclude", "mask")
    assert files(tmp_path / "a.zarr") == files(tmp_path / "b.zarr")
    plan = rechunk.plan(tmp_path / "g.zarr", chunks=(-1, 4, 4))
    assert plan.is_group and plan.kind == "direct"
    assert plan._repr_html_().startswith("<pre>")


def test_a_plan_is_shown_saved_and_run_once_more(sst: Path) -> None:
    plan = rechunk.plan("sst.zarr", "t.zarr", chunks=(-1, 4, 4), max_mem="64MiB", workers=3)
    assert plan.svg.startswith("<svg") and plan._repr_html_() == plan.svg
    assert "considered" in plan.explain() and "considered" not in repr(plan)
    assert plan.html.startswith("<!DOCTYPE html>")
    assert plan.workers == 3 and plan.source == str(sst)
    assert {"kind", "outcome"} & plan.candidates[0].keys()
    again = rechunk.Plan.from_json(plan.to_json())
    assert again.to_json() == plan.to_json()
    assert pickle.loads(pickle.dumps(plan)).to_json() == plan.to_json()
    first = plan.run()
    assert repr(plan), "it can be looked at after it was run"
    second = again.run(overwrite=True)
    assert first["traffic"]["target"] == second["traffic"]["target"]


def test_the_command_line_runs_our_plans_and_we_its(cube: Path, tmp_path: Path, cli: Cli) -> None:
    plan = rechunk.plan(cube, tmp_path / "a.zarr", chunks=(-1, 8, 8))
    (tmp_path / "plan.json").write_text(plan.to_json())
    cli("run", tmp_path / "plan.json")
    words = ["--chunks=-1,8,8", "--out", tmp_path / "theirs.json"]
    cli("plan", cube, tmp_path / "b.zarr", *words)
    rechunk.Plan.from_json((tmp_path / "theirs.json").read_text()).run()
    assert files(tmp_path / "a.zarr") == files(tmp_path / "b.zarr")


def test_parts_make_what_a_run_makes(cube: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"chunks": (-1, 16, 16), "strategy": "push-pull", "max_mem": 2_700_000, "threads": 1}
    whole = rechunk.copy(cube, tmp_path / "a.zarr", **options)
    plan = rechunk.plan(cube, tmp_path / "b.zarr", **options)
    stages = plan.begin()["stages"]
    assert [stage["name"] for stage in stages] == ["push", "pull"]
    with pytest.raises(rechunk.NotYet) as not_yet:
        plan.run_part(1, 0, 3)
    assert not_yet.value.exit_code == 7 and not_yet.value.location
    reads = [plan.run_part(0, i, 3)["traffic"]["source"]["get_requests"] for i in range(3)]
    writes = [plan.run_part(1, i, 2)["traffic"]["target"]["put_requests"] for i in range(2)]
    plan.finish()
    assert sum(reads) == whole["traffic"]["source"]["get_requests"]
    assert sum(writes) == whole["traffic"]["target"]["put_requests"]
    assert files(tmp_path / "a.zarr") == files(tmp_path / "b.zarr")


def test_progress_is_told_and_can_end_the_run(cube: Path, tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    rechunk.copy(cube, tmp_path / "a.zarr", chunks=(-1, 8, 8), progress=told.append)
    assert told[-1]["bytes_done"] == told[-1]["bytes_total"] == 64 * 96 * 96 * 4
    assert told[-1]["tasks_done"] == told[-1]["tasks_total"]

    class Enough(Exception):
        pass

    def enough(_: dict[str, Any]) -> None:
        raise Enough

    with pytest.raises(Enough):
        rechunk.copy(cube, tmp_path / "b.zarr", chunks=(-1, 8, 8), progress=enough)


def test_a_class_like_tqdm_is_a_bar(cube: Path, tmp_path: Path) -> None:
    bars: list[Any] = []

    class Bar:
        def __init__(self, total: int, **_: Any) -> None:
            self.total, self.n, self.is_closed = total, 0, False
            bars.append(self)

        def update(self, n: int) -> None:
            self.n += n

        def close(self) -> None:
            self.is_closed = True

    rechunk.copy(cube, tmp_path / "a.zarr", chunks=(-1, 8, 8), progress=Bar)
    assert [(bar.n, bar.is_closed) for bar in bars] == [(64 * 96 * 96 * 4, True)]


def test_import_brings_nothing_heavy() -> None:
    program = "import sys, rechunk; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"numpy", "zarr", "xarray", "dask", "distributed", "asyncio", "concurrent", "multiprocessing", "json"}
    assert not heavy & set(done.stdout.split())


def test_storage_objects_name_their_stores(sst: Path, tmp_path: Path) -> None:
    import fsspec
    import obstore.store
    import xarray

    from rechunk.locations import locate

    assert locate(zarr.open_array(str(sst))) == (str(sst), [])
    assert locate(fsspec.filesystem("file").get_mapper(str(sst))) == (str(sst), [])
    assert locate(obstore.store.LocalStore(str(sst)))[0] == str(sst)
    bucket = obstore.store.S3Store("b", prefix="p", endpoint="http://127.0.0.1:1", skip_signature=True)
    location, options = locate(bucket)
    assert location == "s3://b/p" and "skip_signature=true" in options
    group = zarr.create_group(str(tmp_path / "g.zarr"), zarr_format=2)
    make_array(tmp_path / "g.zarr" / "air", (4, 4, 4), (1, 4, 4))
    assert locate(group["air"]) == (str(tmp_path / "g.zarr/air"), [])
    opened = xarray.open_zarr(str(tmp_path / "g.zarr"), consolidated=False)
    assert locate(opened)[0] == str(tmp_path / "g.zarr")
    for nowhere in (zarr.storage.MemoryStore(), obstore.store.MemoryStore(), {}, opened * 2):
        with pytest.raises(rechunk.UsageError) as refused:
            locate(nowhere)
        assert refused.value.hint, nowhere


def test_migrate_there_and_back(tmp_path: Path) -> None:
    place = make_array(tmp_path / "old.zarr", (4, 6), (2, 3), zarr_format=2)
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    planned = rechunk.migrate(place, dry_run=True)
    assert [document["key"] for document in planned["written"]] == ["zarr.json"]
    done = rechunk.migrate(place)
    assert (done["from"], done["to"]) == ("zarr2", "zarr3")
    new = zarr.open_array(place, mode="r", zarr_format=3)
    assert (new[...] == zarr.open_array(place, mode="r", zarr_format=2)[...]).all()
    assert rechunk.migrate(place, undo=True)["removed"] == ["zarr.json"]
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_texts_are_cut(tmp_path: Path, zarr_format: Any) -> None:
    words = np.array(["é" * (i % 5) + str(i) for i in range(103)], dtype=object)
    source = zarr.create_array(
        tmp_path / "words.zarr", shape=(103,), chunks=(10,), dtype=str, zarr_format=zarr_format
    )
    source[:] = words
    report = rechunk.copy(tmp_path / "words.zarr", tmp_path / "t.zarr", chunks=(7,), format="zarr3", shards=(28,))
    traffic, estimate = report["traffic"]["target"], report["estimate"]["target"]
    assert traffic["put_requests"] == estimate["put_requests"] == 4
    written = zarr.open_array(str(tmp_path / "t.zarr"), mode="r")
    assert (written.chunks, written.shards) == ((7,), (28,))
    assert written[:].tolist() == words.tolist()
    assert rechunk.verify(tmp_path / "words.zarr", tmp_path / "t.zarr")["equal"]
