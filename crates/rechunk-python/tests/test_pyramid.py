"""`pyramid`: levels of images, against dense references of NumPy and the command line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rechunk
import zarr
from conftest import files, make_array

Cli = Callable[..., dict[str, Any]]
SHAPE = (7, 13, 18)
VALUES = np.random.default_rng(5).integers(-300, 300, SHAPE).astype("i2")
FACTORS = [(1, 2, 2), (2, 4, 4), (3, 5, 7)]
OPTIONS: dict[str, Any] = {"max_mem": "64MiB", "threads": 2}


def make(path: str, values: Any, chunks: tuple[int, ...], names: list[str] | None = None) -> None:
    array = zarr.create_array(
        path,
        shape=values.shape,
        chunks=chunks,
        dtype=values.dtype,
        zarr_format=3,
        fill_value=0,
        dimension_names=names or ["z", "y", "x"][-values.ndim :],
    )
    array[...] = values


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An array of odd extents and of both signs, `v.zarr` in the current directory."""
    monkeypatch.chdir(tmp_path)
    make("v.zarr", VALUES, (3, 5, 8))
    return "v.zarr"


def read(path: Any) -> Any:
    return zarr.open_array(str(path), mode="r")[...]


def cells(shape: tuple[int, ...], factors: tuple[int, ...]) -> Iterator[tuple[Any, Any]]:
    """Each index of a level of `shape`, and the box of level 0 that it stands for."""
    for at in np.ndindex(*shape):
        yield at, tuple(slice(i * factor, (i + 1) * factor) for i, factor in zip(at, factors))


def reduced(values: Any, factors: tuple[int, ...], element: Callable[[Any], Any], size: str = "floor") -> Any:
    rest = 0 if size == "floor" else 1
    shape = tuple((n - rest) // factor + rest for n, factor in zip(values.shape, factors))
    level = np.empty(shape, values.dtype)
    for at, box in cells(shape, factors):
        level[at] = element(values[box])
    return level


def mean(cell: Any, rule: str = "half-away") -> Any:
    """The exact mean, rounded once; of floats, the sum in C order as 64-bit floats."""
    if cell.dtype.kind == "f":
        return math.fsum(cell.ravel()) / cell.size
    exact = Fraction(int(cell.sum(dtype="i8")), cell.size)
    if rule == "half-even":
        return round(exact)
    if rule == "down":
        return math.trunc(exact)
    return math.floor(abs(exact) + Fraction(1, 2)) * (1 if exact > 0 else -1)


def mode(cell: Any) -> Any:
    """The most frequent value, the smallest of those that are equally frequent."""
    values, counts = np.unique(cell, return_counts=True)
    return values[np.argmax(counts)]


@pytest.mark.parametrize("size", ["floor", "ceil"])
@pytest.mark.parametrize("rule", ["half-away", "half-even", "down"])
def test_means_are_rounded_once_from_level_0(volume: str, size: str, rule: str) -> None:
    report = rechunk.pyramid(volume, "t.zarr", factors=FACTORS, size=size, round=rule, verify=True, **OPTIONS)
    pyramid = report["pyramid"]
    assert report["verified"] is True
    assert (pyramid["method"], pyramid["size"], pyramid["rounding"], pyramid["from"]) == ("mean", size, rule, "s0")
    assert (read("t.zarr/s0") == VALUES).all()
    for level, factors in zip(pyramid["levels"][1:], FACTORS):
        expected = reduced(VALUES, factors, lambda cell: mean(cell, rule), size)
        found = read(f"t.zarr/{level['path']}")
        assert tuple(level["shape"]) == expected.shape and tuple(level["factors"]) == factors
        assert found.dtype == VALUES.dtype and (found == expected).all()


def test_a_level_is_made_of_the_one_before_where_that_is_asked_for(volume: str) -> None:
    rechunk.pyramid(volume, "t.zarr", factors=[(1, 2, 2), (1, 4, 4)], from_="previous", **OPTIONS)
    first = reduced(VALUES, (1, 2, 2), mean)
    assert (read("t.zarr/s2") == reduced(first, (1, 2, 2), mean)).all()
    assert (read("t.zarr/s2") != reduced(VALUES, (1, 4, 4), mean)).any()


@pytest.mark.parametrize(
    "method, element",
    [("mode", mode), ("min", np.min), ("max", np.max), ("stride", lambda cell: cell[0, 0, 0])],
)
def test_methods_are_those_of_numpy(volume: str, method: str, element: Callable[[Any], Any]) -> None:
    few = VALUES % 4  # so that some are more frequent than others
    rechunk.pyramid(few, "t.zarr", factors=FACTORS, method=method, size="ceil", chunks=(3, 5, 8), **OPTIONS)
    for number, factors in enumerate(FACTORS, 1):
        assert (read(f"t.zarr/s{number}") == reduced(few, factors, element, "ceil")).all()


@pytest.mark.parametrize("size", ["floor", "ceil"])
def test_labels_are_the_most_frequent_ones(tmp_path: Path, size: str) -> None:
    labels = np.random.default_rng(3).integers(0, 4, (9, 11), dtype="u4")
    rechunk.pyramid(labels, tmp_path / "t.zarr", factors="2,2;3,4", labels=True, size=size, chunks=(4, 4), **OPTIONS)
    assert (read(tmp_path / "t.zarr/s1") == reduced(labels, (2, 2), mode, size)).all()
    assert (read(tmp_path / "t.zarr/s2") == reduced(labels, (3, 4), mode, size)).all()
    assert "image-label" in zarr.open_group(str(tmp_path / "t.zarr"), mode="r").attrs["ome"]


def test_types_that_hold_labels_are_taken_for_them(tmp_path: Path) -> None:
    for dtype in ("bool", "u8"):
        values = np.random.default_rng(4).integers(0, 2, (8, 8)).astype(dtype)
        report = rechunk.pyramid(values, tmp_path / f"{dtype}.zarr", levels=1, **OPTIONS)
        assert report["pyramid"]["method"] == "mode"
        assert any("labels" in warning for warning in report["warnings"])
        assert (read(tmp_path / f"{dtype}.zarr/s1") == reduced(values, (2, 2), mode)).all()


def test_means_of_floats_are_those_of_numpy(tmp_path: Path) -> None:
    values = np.random.default_rng(6).normal(size=(9, 10)).astype("f4")
    rechunk.pyramid(values, tmp_path / "t.zarr", factors=[(2, 3)], **OPTIONS)
    assert np.allclose(read(tmp_path / "t.zarr/s1"), reduced(values, (2, 3), mean), rtol=1e-6)


def test_chunks_that_are_not_stored_may_count_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make("v.zarr", np.zeros((6, 6), "i4"), (3, 3))
    zarr.open_array("v.zarr", mode="r+")[:3, :3] = 8  # the only chunk that is stored
    for missing, expected in (("fill", [8, 4, 2]), ("skip", [8, 8, 8])):
        rechunk.pyramid("v.zarr", f"{missing}.zarr", factors=[(2, 2)], missing=missing, **OPTIONS)
        level = read(f"{missing}.zarr/s1")
        assert [level[0, 0], level[0, 1], level[1, 1]] == expected


def test_levels_are_counted_or_end_at_an_extent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make("v.zarr", np.arange(3 * 24 * 40, dtype="u2").reshape(3, 24, 40), (1, 8, 8), ["c", "y", "x"])
    by_count = rechunk.pyramid("v.zarr", "a.zarr", levels=2, **OPTIONS)["pyramid"]["levels"]
    by_extent = rechunk.pyramid("v.zarr", "b.zarr", until=10, **OPTIONS)["pyramid"]["levels"]
    assert [level["factors"] for level in by_count] == [[1, 1, 1], [1, 2, 2], [1, 4, 4]]
    assert [level["shape"] for level in by_extent] == [[3, 24, 40], [3, 12, 20], [3, 6, 10]]
    assert by_count == by_extent
    levels = {path: found for path, found in files(Path("a.zarr")).items() if "/" in path}
    assert levels == {path: found for path, found in files(Path("b.zarr")).items() if "/" in path}


@pytest.mark.parametrize(
    "factors",
    [
        "1,2,2;1,4,4",
        ["1,2,2", (1, 4, 4)],
        [[1, 2, 2], [1, 4, 4]],
        ((np.int64(1), 2, 2), (1, 4, 4)),
        [{"y": 2, "x": 2}, {"x": 4, "y": 4}],
        "y=2,x=2;y=4,x=4",
    ],
)
def test_factors_are_said_by_position_or_by_name(volume: str, factors: Any) -> None:
    report = rechunk.pyramid(volume, "t.zarr", factors=factors, dry_run=True, **OPTIONS)
    levels = report["pyramid"]["levels"]
    assert [level["factors"] for level in levels] == [[1, 1, 1], [1, 2, 2], [1, 4, 4]]
    assert not Path("t.zarr").exists()


def test_one_level_may_be_a_dict(volume: str) -> None:
    report = rechunk.pyramid(volume, "t.zarr", factors={"z": 2, "x": 3}, dry_run=True)
    assert report["pyramid"]["levels"][-1]["factors"] == [2, 1, 3]


def test_a_viewer_finds_the_levels_and_their_places(volume: str) -> None:
    rechunk.pyramid(volume, "t.ome.zarr", factors=[(1, 2, 2), (2, 4, 4)], **OPTIONS)
    image = zarr.open_group("t.ome.zarr", mode="r")
    ome: Any = image.attrs["ome"]
    (multiscale,) = ome["multiscales"]
    assert ome["version"] == "0.5" and multiscale["type"] == "mean"
    assert multiscale["axes"] == [{"name": name, "type": "space"} for name in "zyx"]
    places = []
    for dataset in multiscale["datasets"]:
        array = image[dataset["path"]]
        assert isinstance(array, zarr.Array) and array.dtype == VALUES.dtype
        transforms = {one["type"]: one[one["type"]] for one in dataset["coordinateTransformations"]}
        places.append((array.shape, transforms["scale"], transforms.get("translation")))
    assert places == [
        (SHAPE, [1.0, 1.0, 1.0], None),
        ((7, 6, 9), [1.0, 2.0, 2.0], [0.0, 0.5, 0.5]),
        ((3, 3, 4), [2.0, 4.0, 4.0], [0.5, 1.5, 1.5]),
    ]


@pytest.mark.parametrize(
    "dialect, document",
    [
        ("ome-zarr-0.4", "t/.zattrs"),
        ("ome-zarr-0.6", "t/zarr.json"),
        ("n5-viewer", "t/attributes.json"),
        ("bdv-n5", "t.xml"),
        ("geozarr", "t/zarr.json"),
        ("plain", "t/zarr.json"),
    ],
)
def test_metadata_is_that_of_the_dialect(tmp_path: Path, dialect: str, document: str) -> None:
    values = np.arange(16 * 16, dtype="u2").reshape(1, 16, 16)
    source = values[0] if dialect == "geozarr" else values
    report = rechunk.pyramid(source, tmp_path / "t", factors={"y": 2, "x": 2}, as_=dialect, **OPTIONS)
    assert report["pyramid"]["dialect"] == dialect
    assert (tmp_path / document).is_file()


def test_levels_are_added_to_an_image(volume: str) -> None:
    rechunk.pyramid(volume, "t.zarr", factors=[(1, 2, 2)], **OPTIONS)
    before = files(Path("t.zarr"))
    report = rechunk.pyramid("t.zarr", "t.zarr", factors=[(2, 4, 4), (3, 5, 7)], **OPTIONS)
    assert [level["path"] for level in report["pyramid"]["levels"]] == ["s2", "s3"]
    after = files(Path("t.zarr"))
    assert {path for path in before if before[path] != after[path]} == {"zarr.json"}
    assert (read("t.zarr/s2") == reduced(VALUES, (2, 4, 4), mean)).all()
    assert (read("t.zarr/s3") == reduced(VALUES, (3, 5, 7), mean)).all()
    image = zarr.open_group("t.zarr", mode="r")
    ome: Any = image.attrs["ome"]
    assert [one["path"] for one in ome["multiscales"][0]["datasets"]] == ["s0", "s1", "s2", "s3"]
    assert sorted(image.array_keys()) == ["s0", "s1", "s2", "s3"]
    with pytest.raises(rechunk.TargetError, match="already") as raised:
        rechunk.pyramid("t.zarr", "t.zarr", factors=[(2, 4, 4)], **OPTIONS)
    assert raised.value.location is not None and raised.value.location.endswith("t.zarr/s2")
    assert files(Path("t.zarr")) == after


def test_a_region_and_a_type_are_those_of_a_copy(volume: str) -> None:
    select = (slice(1, 7), slice(None), slice(2, 17))
    rechunk.pyramid(volume, "t.zarr", factors=[(2, 2, 2)], select=select, cast="float64", **OPTIONS)
    part = VALUES[1:7, :, 2:17].astype("f8")
    assert (read("t.zarr/s0") == part).all()
    assert (read("t.zarr/s1") == reduced(part, (2, 2, 2), mean)).all()


def test_chunks_shards_and_codecs_are_those_of_a_copy(volume: str) -> None:
    report = rechunk.pyramid(
        volume, "t.zarr", factors=[(1, 2, 2)], chunks=(4, 4, 4), shards={"z": 8, "y": 8, "x": 8}, codec="gzip:3"
    )
    assert [level["chunk_shape"] for level in report["pyramid"]["levels"]] == [[4, 4, 4], [4, 4, 4]]
    for path in ("t.zarr/s0", "t.zarr/s1"):
        array = zarr.open_array(path, mode="r")
        assert array.chunks == (4, 4, 4) and array.shards == (8, 8, 8)
        assert [codec.to_dict()["name"] for codec in array.compressors] == ["gzip"]


def test_a_pyramid_and_its_report_are_those_of_the_command_line(volume: str, cli: Cli) -> None:
    options: dict[str, Any] = {"size": "ceil", "round": "half-even", "chunks": (4, 6, 6), "as_": "ome-zarr-0.4"}
    words = ["--size=ceil", "--round=half-even", "--chunks=4,6,6", "--as=ome-zarr-0.4", "--max-mem=64MiB"]
    words += ["--factors=1,2,2;2,4,4", "--threads=2"]
    plan = rechunk.pyramid(volume, "a.zarr", factors=[(1, 2, 2), (2, 4, 4)], dry_run=True, **options, **OPTIONS)
    assert plan == cli("pyramid", volume, "a.zarr", *words, "--dry-run")
    ours = rechunk.pyramid(volume, "a.zarr", factors=[(1, 2, 2), (2, 4, 4)], **options, **OPTIONS)
    theirs = cli("pyramid", volume, "b.zarr", *words)
    assert files(Path("a.zarr")) == files(Path("b.zarr"))
    assert ours.keys() == theirs.keys()
    for key in ("pyramid", "estimate", "tasks", "groups", "warnings"):
        assert ours[key] == theirs[key], key
    for role in ("source", "intermediate", "target"):
        assert ours["traffic"][role] == theirs["traffic"][role], role
    assert plan["pyramid"] == ours["pyramid"] and "traffic" not in plan
    assert ours["traffic"]["source"]["get_requests"] == ours["estimate"]["source"]["get_requests"]
    assert ours["traffic"]["target"]["put_requests"] == ours["estimate"]["target"]["put_requests"]
    assert ours["tasks"]["done"] == ours["tasks"]["total"]


@pytest.mark.parametrize(
    "kind, options, words",
    [
        (rechunk.UsageError, {}, "no levels are asked for"),
        (rechunk.UsageError, {"levels": 2, "until": 8}, "until: it cannot go with levels"),
        (rechunk.UsageError, {"factors": "2,2,2", "levels": 1}, "levels: it cannot go with factors"),
        (rechunk.UsageError, {"factors": [(2, 2)]}, "2 factors"),
        (rechunk.UsageError, {"factors": [1, 2, 2]}, "1 factors"),
        (rechunk.UsageError, {"factors": [(0, 2, 2)]}, "^factors: `0` is no factor"),
        (rechunk.UsageError, {"factors": [(1, 2.5, 2)]}, "`2.5` is no factor"),
        (rechunk.UsageError, {"factors": []}, "is no factor"),
        (rechunk.UsageError, {"factors": True}, "`true` is no factor"),
        (rechunk.UsageError, {"factors": [{"t": 2}]}, "`t`"),
        (rechunk.UsageError, {"factors": [(1, 4, 4), (1, 2, 2)]}, "no coarser"),
        (rechunk.UsageError, {"factors": [(8, 1, 1)]}, "leaves nothing"),
        (rechunk.UsageError, {"levels": 0}, "levels"),
        (rechunk.UsageError, {"levels": 30}, "levels below"),
        (rechunk.UsageError, {"levels": 1, "method": "average"}, "method: .*mean, mode"),
        (rechunk.UsageError, {"levels": 1, "labels": "yes"}, "labels: `yes` is not True or False"),
        (rechunk.UsageError, {"levels": 1, "size": "round"}, "size: .*floor, ceil"),
        (rechunk.UsageError, {"levels": 1, "from_": "s1"}, "from_: .*s0, previous"),
        (rechunk.UsageError, {"levels": 1, "round": "up"}, "round: .*half-away"),
        (rechunk.UsageError, {"levels": 1, "missing": "error"}, "missing: .*fill, skip"),
        (rechunk.UsageError, {"levels": 1, "as_": "ome-zarr"}, "as_: .*ome-zarr-0.5"),
        (rechunk.UsageError, {"levels": 1, "format": "npy"}, "format: .*zarr3, zarr2, n5"),
        (rechunk.UsageError, {"levels": 1, "format": "zarr2", "as_": "ome-zarr-0.5"}, "cannot be written"),
        (rechunk.UsageError, {"levels": 1, "strategy": "direct"}, "strategy"),
        (rechunk.UsageError, {"levels": 1, "chunk": (4, 4, 4)}, "is it chunks?"),
        (rechunk.MemoryBudgetError, {"levels": 1, "max_mem": 1000}, "max_mem="),
        (rechunk.TargetError, {"levels": 1, "target": "there.zarr"}, "exists"),
        (rechunk.SourceError, {"levels": 1, "source": "nothing.zarr"}, "nothing.zarr"),
        (rechunk.SourceError, {"levels": 1, "source": "group.zarr"}, "describes no image"),
    ],
)
def test_each_class_has_its_exception(
    volume: str, kind: type[rechunk.RechunkError], options: dict[str, Any], words: str
) -> None:
    make("there.zarr", np.zeros((4, 4), "u1"), (2, 2))
    zarr.create_group("group.zarr", zarr_format=3)
    given: dict[str, Any] = {"source": volume, "target": "t.zarr", **options}
    with pytest.raises(kind, match=words) as raised:
        rechunk.pyramid(**given)
    assert type(raised.value) is kind
    assert "--" not in str(raised.value), "options are called as in Python"
    assert not Path("t.zarr").exists()


def test_a_target_is_the_place_of_an_image(volume: str) -> None:
    for target in (None, np.zeros(SHAPE), {}):
        with pytest.raises(rechunk.UsageError):
            rechunk.pyramid(volume, target, levels=1)


def test_objects_that_name_a_store_are_taken(volume: str) -> None:
    rechunk.pyramid(zarr.open_array(volume, mode="r"), "a.zarr", levels=1, **OPTIONS)
    group = zarr.open_group("a.zarr", mode="r+")
    report = rechunk.pyramid(group, group, factors=[(4, 4, 4)], **OPTIONS)
    assert report["pyramid"]["levels"][0]["path"] == "s2"
    rechunk.pyramid(VALUES, Path("b.zarr"), levels=1, chunks=(3, 5, 8), **OPTIONS)
    assert (read("b.zarr/s1") == read("a.zarr/s1")).all()


def test_storage_options_reach_a_bucket(volume: str, s3: dict[str, str], tmp_path: Path) -> None:
    target = f"s3://rechunk-test/{tmp_path.name}/t.zarr"
    store = {
        "key": s3["AWS_ACCESS_KEY_ID"],
        "secret": s3["AWS_SECRET_ACCESS_KEY"],
        "endpoint_url": s3["AWS_ENDPOINT"],
        "region_name": s3["AWS_REGION"],
    }
    more: dict[str, Any] = {"store_option": {"allow_http": "true"}, **OPTIONS}
    rechunk.pyramid(volume, target, levels=1, storage_options=store, **more)
    rechunk.pyramid(volume, "t.zarr", levels=1, **OPTIONS)
    assert rechunk.verify(target, "t.zarr", storage_options=store, store_option={"allow_http": "true"})["equal"]


def test_progress_is_told(cube: Path, tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    report = rechunk.pyramid(cube, tmp_path / "t.zarr", factors=[(1, 2, 2)], progress=told.append)
    assert told[-1]["tasks_done"] == told[-1]["tasks_total"] == report["tasks"]["total"]
    assert told[-1]["bytes_done"] == told[-1]["bytes_total"] > 0


def test_a_run_that_was_stopped_goes_on_later(cube: Path, tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def enough(state: dict[str, Any]) -> None:
        if state["tasks_done"]:
            raise Enough

    options: dict[str, Any] = {"factors": [(1, 2, 2), (2, 4, 4)], **OPTIONS, "threads": 1}
    with pytest.raises(Enough) as stopped:
        rechunk.pyramid(cube, tmp_path / "t.zarr", progress=enough, bwlimit="200kB", **options)
    assert isinstance(stopped.value.__cause__, rechunk.Interrupted)
    assert rechunk.status(tmp_path / "t.zarr")["state"] == "interrupted"
    with pytest.raises(rechunk.TargetError, match="other levels"):
        rechunk.pyramid(cube, tmp_path / "t.zarr", resume=True, **{**options, "factors": [(1, 2, 2)]})
    report = rechunk.pyramid(cube, tmp_path / "t.zarr", resume=True, **options)
    assert report["tasks"]["resumed"] > 0
    rechunk.pyramid(cube, tmp_path / "whole.zarr", **options)
    assert files(tmp_path / "t.zarr") == files(tmp_path / "whole.zarr")
    assert rechunk.pyramid(cube, tmp_path / "t.zarr", resume=True, **options)["already_complete"]


def test_a_cancelled_run_is_interrupted(cube: Path, tmp_path: Path) -> None:
    cancel = rechunk.Cancel()
    cancel.cancel()
    with pytest.raises(rechunk.Interrupted):
        rechunk.pyramid(cube, tmp_path / "t.zarr", levels=1, cancel=cancel)


def test_a_named_array_keeps_the_names_of_its_axes(tmp_path: Path) -> None:
    make_array(tmp_path / "sst.zarr", (4, 9, 9), (1, 9, 9), zarr_format=3)
    report = rechunk.pyramid(tmp_path / "sst.zarr", tmp_path / "t.zarr", levels=2)
    assert [level["factors"] for level in report["pyramid"]["levels"]] == [[1, 1, 1], [1, 2, 2], [1, 4, 4]]
    coarse = zarr.open_array(str(tmp_path / "t.zarr/s2"), mode="r")
    assert coarse.metadata.dimension_names == ("time", "lat", "lon")
