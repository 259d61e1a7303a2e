"""`apply`: operations of the library, programs and functions in Python, against dense references."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rechunk
import zarr
from conftest import files, make_array

Cli = Callable[..., dict[str, Any]]
SHAPE = (20, 24, 30)
VALUES = np.random.default_rng(7).integers(0, 200, SHAPE).astype("f4")
OPTIONS: dict[str, Any] = {"max_mem": "64MiB", "threads": 2}


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An array of whole numbers as floats, `v.zarr` in the current directory."""
    monkeypatch.chdir(tmp_path)
    array = zarr.create_array("v.zarr", shape=SHAPE, chunks=(5, 8, 10), dtype="f4", zarr_format=3, fill_value=0)
    array[...] = VALUES
    return "v.zarr"


def read(path: Any) -> Any:
    return zarr.open_array(str(path), mode="r")[...]


def box_mean(array: Any) -> Any:
    """The mean of 3 × 3 × 3 elements; those at the border of the array are wrong, and cropped."""
    padded = np.pad(array.astype("f8"), 1, mode="edge")
    parts = [
        padded[z : z + array.shape[0], y : y + array.shape[1], x : x + array.shape[2]]
        for z in range(3)
        for y in range(3)
        for x in range(3)
    ]
    return (sum(parts) / 27).astype("f4")


def dense_mean(values: Any) -> Any:
    """`box_mean` of all of an array, whose border is repeated."""
    return box_mean(np.pad(values, 1, mode="edge"))[1:-1, 1:-1, 1:-1]


def test_a_function_is_applied_with_a_crop(volume: str) -> None:
    report = rechunk.apply(
        volume, "t.zarr", box_mean, (10, 8, 20), crop="auto", halo=1, boundary="nearest", verify=True, **OPTIONS
    )
    assert report["apply"]["op"] == f"{__name__}.box_mean"
    assert report["apply"]["op_calls"] == 12 and report["apply"]["way"] == "direct"
    assert report["verified"] is True
    assert (read("t.zarr") == dense_mean(VALUES)).all()
    assert report["traffic"]["source"]["get_requests"] == report["estimate"]["source"]["get_requests"]


@pytest.mark.parametrize("mode", ["linear", "quadratic", "bump", "max"])
def test_overlaps_of_equal_results_are_those_results(volume: str, mode: str) -> None:
    options: dict[str, Any] = {**OPTIONS, "threads": 4, "boundary": "nearest", "crop": 1}
    report = rechunk.apply(volume, "t.zarr", box_mean, (7, 9, 11), blend=(1, 2, 3), blend_mode=mode, **options)
    assert report["apply"]["way"] == "pull"
    assert (read("t.zarr") == dense_mean(VALUES)).all()


def test_overlaps_are_weighted(volume: str) -> None:
    """Each call gives its number: in an overlap of 4 the steps between two are those of the ramp."""
    report = rechunk.apply(
        volume,
        "t.zarr",
        lambda array, task: np.full_like(array, task.index[0]),
        (10, 24, 30),
        blend=(2, 0, 0),
        blend_mode="linear",
        **OPTIONS,
    )
    assert report["apply"]["op_calls"] == 2
    line = read("t.zarr")[:, 0, 0]
    assert (line[:8] == 0).all() and (line[12:] == 1).all()
    assert np.allclose(np.diff(line[8:12]), np.diff(line[8:12])[0]) and 0 < line[8] < line[11] < 1
    assert line[8] + line[11] == 1


def test_levels_give_the_same_in_memory(volume: str) -> None:
    report = rechunk.apply(
        volume,
        "t.zarr",
        box_mean,
        (7, 8, 7),
        crop=1,
        boundary="nearest",
        levels=[{"work": (10, 12, 15), "blend": (2, 2, 3), "mode": "quadratic"}],
        **OPTIONS,
    )
    assert [level["chunk"] for level in report["apply"]["levels"]] == [[7, 8, 7], [10, 12, 15]]
    assert report["apply"]["op_calls"] == 8 * 2 * 2 * 3
    assert (read("t.zarr") == dense_mean(VALUES)).all()


def test_a_task_knows_where_it_is(volume: str) -> None:
    seen: list[rechunk.Task] = []

    def add_place(array: Any, *, task: rechunk.Task) -> Any:
        seen.append(task)
        z, y, x = np.meshgrid(*(np.arange(*axis) for axis in task.keep), indexing="ij")
        return (array[task.inner] + 10000 * z + 100 * y + x).astype("f4")

    rechunk.apply(volume, "t.zarr", add_place, (10, 8, 20), crop=(1, 0, 2), returns="cropped", **OPTIONS)
    z, y, x = np.meshgrid(*map(np.arange, SHAPE), indexing="ij")
    assert (read("t.zarr") == (VALUES + 10000 * z + 100 * y + x).astype("f4")).all()
    assert sorted(task.number for task in seen) == list(range(12))
    last = max(seen, key=lambda task: task.number)
    assert (last.index, last.call, last.keep) == ((1, 2, 1), 0, ((10, 20), (16, 24), (20, 30)))
    assert (last.read, last.pads) == (((9, 21), (16, 24), (18, 32)), ((1, 1), (0, 0), (2, 2)))


def test_several_sources_and_another_type(volume: str) -> None:
    rechunk.apply(volume, "m.zarr", lambda a: a > 100, (5, 8, 10), dtype=bool, chunks=(5, 12, 15), **OPTIONS)
    assert read("m.zarr").dtype == bool
    rechunk.apply([volume, "m.zarr"], "t.zarr", lambda a, m: np.where(m, a, -1), (10, 8, 20), **OPTIONS)
    assert (read("t.zarr") == np.where(VALUES > 100, VALUES, -1)).all()
    mask = VALUES > 100  # also an array of NumPy
    rechunk.apply([volume, mask], "u.zarr", lambda a, m: np.where(m, a, -1), (10, 8, 20), **OPTIONS)
    assert (read("u.zarr") == read("t.zarr")).all()


def test_casts_are_those_of_operations(volume: str) -> None:
    rechunk.apply(volume, "t.zarr", lambda a: a * 3 - 100.5, (10, 8, 20), cast="uint8", **OPTIONS)
    assert (read("t.zarr") == np.clip(np.round(VALUES * 3 - 100.5), 0, 255)).all()
    wide: list[Any] = []

    def note(array: Any) -> Any:
        wide.append(array.dtype)
        return array / 3

    rechunk.apply("t.zarr", "u.zarr", note, (10, 8, 20), cast="float64", **OPTIONS)
    assert set(wide) == {np.dtype("f8")} and (read("u.zarr") == read("t.zarr") / 3).all()


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "f2", "c16", "M8[ms]", "m8[10us]", "S5", "U3"])
def test_arrays_of_all_types_are_seen_as_they_are(tmp_path: Path, dtype: str) -> None:
    source = (np.arange(120) % 100).astype("i8").reshape(10, 12).astype(dtype)
    seen: list[Any] = []

    def note(array: Any) -> Any:
        seen.append((array.dtype, array.flags.writeable, array.flags.c_contiguous))
        return array[...]

    zarr.create_array(
        str(tmp_path / "s.zarr"), shape=(10, 12), chunks=(5, 4), dtype=dtype, zarr_format=2
    )[...] = source
    rechunk.apply(tmp_path / "s.zarr", tmp_path / "t.zarr", note, (5, 8), **OPTIONS)
    assert set(seen) == {(source.dtype, False, True)}
    assert (read(tmp_path / "t.zarr") == source).all()


def test_results_lie_as_they_like(volume: str) -> None:
    rechunk.apply(volume, "t.zarr", lambda a: np.asfortranarray(a[::-1])[::-1].astype(">f4"), (10, 8, 20), **OPTIONS)
    assert (read("t.zarr") == VALUES).all()
    rechunk.apply(volume, "u.zarr", lambda a: np.broadcast_to(np.float32(7), a.shape), (10, 8, 20), **OPTIONS)
    assert (read("u.zarr") == 7).all()


def test_what_is_kept_of_a_window_stays_what_it_was(volume: str) -> None:
    kept: list[tuple[Any, Any]] = []

    def keep(array: Any) -> Any:
        kept.append((array, array.copy()))
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
        return array  # the window itself

    rechunk.apply(volume, "t.zarr", keep, (5, 8, 10), crop=1, **OPTIONS)
    assert len(kept) == 36 and all((seen == copy).all() for seen, copy in kept)
    assert (read("t.zarr") == VALUES).all()


def test_none_means_that_nothing_is_written(volume: str) -> None:
    def some(array: Any, task: rechunk.Task) -> Any:
        return None if task.index[0] else array + 1

    rechunk.apply(volume, "t.zarr", some, (5, 24, 30), **OPTIONS)
    found = read("t.zarr")
    assert (found[:5] == VALUES[:5] + 1).all() and (found[5:] == 0).all()
    stored = {name for name in files(Path("t.zarr")) if name.startswith("c/")}
    assert {name.split("/")[1] for name in stored} == {"0"}


def test_an_exception_names_its_task_and_the_run_goes_on_later(volume: str) -> None:
    broken = [True]

    def smooth(array: Any, task: rechunk.Task) -> Any:
        if broken[0] and task.number == 7:
            raise ValueError("seven is\nno number")
        return array * 2

    with pytest.raises(rechunk.OperationError) as raised:
        rechunk.apply(volume, "t.zarr", smooth, (5, 12, 30), name="smooth", max_mem="64MiB", threads=1)
    error = raised.value
    assert type(error) is rechunk.OperationError and error.exit_code == 1
    text = str(error)
    assert "ValueError: seven is" in text and "task 7, box 15:20,12:24,0:30" in text and "smooth" in text
    assert "test_apply.py, line" in text and "resume=True" in text
    assert isinstance(error.__cause__, ValueError) and error.__cause__.__traceback__ is not None
    assert rechunk.status("t.zarr")["state"] == "interrupted"
    assert not Path("t.zarr/zarr.json").exists(), "nobody takes it for an array"
    options: dict[str, Any] = {"max_mem": "64MiB", "threads": 1, "resume": True}
    broken[0] = False  # another function; its name says that it is the same
    with pytest.raises(rechunk.TargetError, match="`smooth`, not `another`"):
        rechunk.apply(volume, "t.zarr", smooth, (5, 12, 30), name="another", **options)
    with pytest.raises(rechunk.TargetError, match="operation"):
        rechunk.apply(volume, "t.zarr", "identity", (5, 12, 30), **options)
    report = rechunk.apply(volume, "t.zarr", smooth, (5, 12, 30), name="smooth", **options)
    assert report["tasks"]["resumed"] >= 7 and report["apply"]["op_calls"] == 1
    assert (read("t.zarr") == VALUES * 2).all()
    assert zarr.open_array("t.zarr", mode="r").attrs["rechunk_apply"]["operation"] == "smooth"
    rechunk.apply(volume, "t.zarr", smooth, (5, 12, 30), name="smooth", scratch="1MiB", **options)  # is complete
    with pytest.raises(rechunk.TargetError):
        rechunk.apply(volume, "t.zarr", smooth, (5, 12, 30), name="another", **options)


def test_the_cause_is_what_the_message_tells(volume: str) -> None:
    meeting = threading.Barrier(2, timeout=60)

    def both_fail(array: Any, task: rechunk.Task) -> Any:
        meeting.wait()
        raise ValueError(f"in task {task.number}")

    with pytest.raises(rechunk.OperationError) as raised:
        rechunk.apply(volume, "t.zarr", both_fail, (10, 24, 30), **OPTIONS)
    assert f"ValueError: {raised.value.__cause__}" in str(raised.value)


def test_blocks_are_kept_after_an_exception(volume: str) -> None:
    calls: list[int] = []
    broken = [True]

    def mean(array: Any, task: rechunk.Task) -> Any:
        calls.append(task.number)
        if broken[0] and task.number == 5:
            raise RuntimeError
        return box_mean(array)

    options: dict[str, Any] = {"crop": 1, "blend": 2, "boundary": "nearest", "max_mem": "64MiB", "threads": 1}
    with pytest.raises(rechunk.OperationError, match="RuntimeError"):
        rechunk.apply(volume, "t.zarr", mean, (10, 8, 20), **options)
    broken[0] = False
    rechunk.apply(volume, "t.zarr", mean, (10, 8, 20), resume=True, **options)
    assert sorted(calls) == sorted([*range(12), 5])
    assert (read("t.zarr") == dense_mean(VALUES)).all()


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda a: a[1:], r"shape \(4, 8, 10\), and not \(5, 8, 10\)"),
        (lambda a: a.astype("f8"), "dtype='float64', or return array.astype"),
        (lambda a: a.tolist(), "a value of the type list"),
        (lambda a: 5, "a value of the type int"),
        (lambda a: np.ma.masked_equal(a, 0), "masked array"),
        (lambda a, b: a, "TypeError: .*missing 1 required positional argument"),
        (lambda: None, "TypeError: .*takes 0 positional arguments"),
    ],
)
def test_wrong_results_say_what_is_wanted(volume: str, function: Any, words: str) -> None:
    with pytest.raises(rechunk.OperationError, match=words):
        rechunk.apply(volume, "t.zarr", function, (5, 8, 10), **OPTIONS)


def test_the_other_shape_is_named(volume: str) -> None:
    with pytest.raises(rechunk.OperationError, match="give returns='cropped'"):
        rechunk.apply(volume, "t.zarr", lambda a, task: a[task.inner], (5, 8, 10), crop=1, **OPTIONS)
    rechunk.clean("t.zarr")
    with pytest.raises(rechunk.OperationError, match="give returns='padded'"):
        rechunk.apply(volume, "t.zarr", lambda a: a, (5, 8, 10), crop=1, returns="cropped", **OPTIONS)


def test_wrong_requests_are_refused_before_anything_is_written(volume: str) -> None:
    copy = lambda a: a  # noqa: E731
    for kind, given, words in (
        (rechunk.UsageError, {"op": copy, "work": None}, "work"),
        (rechunk.UsageError, {"op": None}, "op"),
        (rechunk.UsageError, {"op": 5}, "int is no operation"),
        (rechunk.UsageError, {"op": "no-such"}, "no-such"),
        (rechunk.UsageError, {"op": copy, "target": None}, "target"),
        (rechunk.UsageError, {"op": "min-max-mean"}, "statistic"),
        (rechunk.UsageError, {"op": copy, "crop": "auto"}, "halo"),
        (rechunk.UsageError, {"op": copy, "dtype": "no"}, "no"),
        (rechunk.UsageError, {"op": copy, "returns": "whole"}, "padded, cropped"),
        (rechunk.UsageError, {"op": copy, "work": (3, 3, 3), "direct": True}, "two tasks"),
        (rechunk.UsageError, {"op": copy, "blend": 2, "labels": True}, "labels"),
        (rechunk.UsageError, {"op": copy, "select": (slice(0, 5),)}, "select"),
        (rechunk.UsageError, {"op": copy, "strategy": "direct"}, "strategy"),
        (rechunk.UsageError, {"op": "identity", "halo": 3}, "callable"),
        (rechunk.UsageError, {"op": copy, "levels": {"work": 3, "bend": 2}}, "bend"),
        (rechunk.UsageError, {"op": copy, "boundary": "nearest=3"}, "takes no value"),
        (rechunk.UsageError, {"op": copy, "box_units": "um"}, "box_units: there is no box"),
        (rechunk.UsageError, {"op": copy, "box_units": "ells", "box": "0:5,:,:"}, "box_units: "),
        (rechunk.UsageError, {"op": copy, "box_units": "um", "box": "0:5,:,:"}, "box"),
        (rechunk.MemoryBudgetError, {"op": copy, "scratch": "1GiB"}, "memory|MiB"),
        (rechunk.TargetError, {"op": copy, "target": volume}, "source"),
    ):
        options = {"target": "t.zarr", "work": (5, 8, 10), **OPTIONS, **given}
        with pytest.raises(kind, match=words):
            rechunk.apply(volume, **options)  # type: ignore[arg-type]
        assert not Path("t.zarr").exists(), given
    assert (read(volume) == VALUES).all()


def test_operations_are_those_of_the_command_line(volume: str, cli: Cli) -> None:
    ours = rechunk.apply(
        volume,
        "a.zarr",
        "median:size=3",
        (10, 12, 15),
        crop="auto",
        boundary="constant=1",
        box=(slice(2, 18), slice(None), slice(3, None)),
        chunks=(5, 12, 15),
        **OPTIONS,
    )
    words = ["--op=median:size=3", "--work=10,12,15", "--crop=auto", "--boundary=constant=1", "--box=2:18,:,3:"]
    theirs = cli("apply", volume, "b.zarr", *words, "--chunks=5,12,15", "--max-mem=64MiB", "--threads=2")
    assert ours["plan"]["fingerprint"] == theirs["plan"]["fingerprint"]
    assert ours["apply"] == theirs["apply"] and ours.keys() == theirs.keys()
    assert all(ours["traffic"][role] == theirs["traffic"][role] for role in ("source", "intermediate", "target"))
    assert files(Path("a.zarr")) == files(Path("b.zarr"))


def test_a_statistic_needs_no_target(volume: str, cli: Cli) -> None:
    found = rechunk.apply(volume, op="histogram:bins=4,range=0..200", work=(5, 12, 15), **OPTIONS)
    assert found["statistic"] == cli("apply", volume, "--op=histogram:bins=4,range=0..200", "--work=5,12,15")["statistic"]
    found = rechunk.apply(VALUES, op="min-max-mean", work=(5, 12, 15), **OPTIONS)
    assert found["statistic"]["sum"] == VALUES.sum(dtype="f8")
    planned = rechunk.apply(volume, op="min-max-mean", work=(5, 12, 15), dry_run=True, **OPTIONS)
    assert planned["statistic"] is None and planned["apply"]["op_calls"] == 16


def test_a_dry_run_plans(volume: str) -> None:
    def never(array: Any) -> Any:
        raise AssertionError

    planned = rechunk.apply(volume, "t.zarr", never, (5, 8, 10), dry_run=True, **OPTIONS)
    assert planned["apply"]["planned_op_calls"] == 36 and planned["plan"]["kind"] == "apply"
    assert not Path("t.zarr").exists()


def test_scratch_is_memory_of_each_task(volume: str) -> None:
    def peak(**more: Any) -> int:
        planned = rechunk.apply(volume, "t.zarr", abs, (5, 8, 10), dry_run=True, **OPTIONS, **more)
        return int(planned["plan"]["stages"][0]["memory_bytes"])

    assert peak(scratch="8MiB") == peak(scratch="4MiB") + (4 << 20) > peak() + (4 << 20)


def test_programs_are_started(volume: str) -> None:
    program = "import sys, numpy; numpy.save(sys.argv[2], numpy.load(sys.argv[1]) + 1)"
    Path("plus.py").write_text(program)
    op = rechunk.Exec(f"{sys.executable} plus.py {{in}} {{out}}", timeout=60, mem="1MiB")
    report = rechunk.apply(volume, "t.zarr", op, (20, 24, 15), **OPTIONS)
    assert report["apply"]["op"] == "exec" and (read("t.zarr") == VALUES + 1).all()
    failing = rechunk.Exec(f"{sys.executable} no-such.py {{in}} {{out}}")
    with pytest.raises(rechunk.OperationError, match="exit code 2"):
        rechunk.apply(volume, "u.zarr", failing, (20, 24, 15), **OPTIONS)


def test_an_update_leaves_what_is_beyond_its_box(volume: str) -> None:
    rechunk.copy(volume, "t.zarr", chunks=(4, 24, 7))
    rechunk.apply(
        volume, "t.zarr", lambda a: -a, (5, 8, 10), box="3:13,:,5:25", update=True, verify=True, **OPTIONS
    )
    expected = VALUES.copy()
    expected[3:13, :, 5:25] *= -1
    assert (read("t.zarr") == expected).all()


def test_arrays_of_numpy_are_sources_and_targets(tmp_path: Path, volume: str) -> None:
    out = np.full(SHAPE, -5, "f4")
    report = rechunk.apply(VALUES, out, box_mean, (10, 12, 15), crop=1, boundary="nearest", **OPTIONS)
    assert report["apply"]["op_calls"] == 8
    assert (out == dense_mean(VALUES)).all()
    before = out.copy()
    with pytest.raises(rechunk.OperationError):
        rechunk.apply(volume, out, lambda a: a[1:], (10, 12, 15), **OPTIONS)
    with pytest.raises(rechunk.UsageError, match="shape"):
        rechunk.apply(volume, out[1:], box_mean, (10, 12, 15), **OPTIONS)
    with pytest.raises(rechunk.UsageError, match="update"):
        rechunk.apply(volume, out, box_mean, (10, 12, 15), update=True, **OPTIONS)
    assert (out == before).all()


def test_other_threads_run_and_calls_overlap(volume: str) -> None:
    """Two calls meet, which they can only if neither holds the interpreter while it waits."""
    meeting = threading.Barrier(2, timeout=60)

    def meet(array: Any) -> Any:
        meeting.wait()
        return array

    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        report = rechunk.apply(volume, "t.zarr", meet, (5, 24, 30), max_mem="64MiB", threads=2)
    finally:
        stop.set()
        thread.join()
    assert report["apply"]["op_calls"] == 4 and counted[0] > 0
    assert (read("t.zarr") == VALUES).all()


def test_jobs_bound_calls_at_once(volume: str) -> None:
    inside, most = [0], [0]
    lock = threading.Lock()

    def alone(array: Any) -> Any:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        time.sleep(0.005)
        with lock:
            inside[0] -= 1
        return array

    rechunk.apply(volume, "t.zarr", alone, (5, 8, 10), jobs=1, max_mem="64MiB", threads=4)
    assert most == [1]


def test_four_threads_give_the_same(volume: str) -> None:
    options: dict[str, Any] = {"crop": 1, "blend": (1, 2, 3), "boundary": "reflect", "max_mem": "64MiB"}
    rechunk.apply(volume, "a.zarr", box_mean, (7, 9, 11), threads=1, **options)
    rechunk.apply(volume, "b.zarr", box_mean, (7, 9, 11), threads=4, **options)
    assert files(Path("a.zarr")) == files(Path("b.zarr"))


def test_cancel_waits_for_calls_that_are_under_way(volume: str) -> None:
    cancel, ended = rechunk.Cancel(), []

    def slow(array: Any, task: rechunk.Task) -> Any:
        cancel.cancel()
        time.sleep(0.2)
        ended.append(task.number)
        return array

    with pytest.raises(rechunk.Interrupted):
        rechunk.apply(volume, "t.zarr", slow, (5, 8, 10), cancel=cancel, **OPTIONS)
    count = len(ended)
    assert 1 <= count <= 2
    time.sleep(0.3)
    assert len(ended) == count, "no call begins or ends after the run"
    report = rechunk.apply(volume, "t.zarr", slow, (5, 8, 10), resume=True, **OPTIONS)
    assert report["tasks"]["done"] == 36 and (read("t.zarr") == VALUES).all()


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_is_answered(volume: str, times: int) -> None:
    program = f"""
import os, sys, time, rechunk

def slow(array):
    os.write(1, b"begun\\n")
    time.sleep({0.05 if times == 1 else 2})
    return array + 1

try:
    rechunk.apply("v.zarr", "t.zarr", slow, (5, 8, 10), name="slow", max_mem="64MiB", threads=2)
except KeyboardInterrupt as stopped:
    print("stopped", type(stopped.__cause__).__name__, flush=True)
    sys.exit(7)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        for number in range(times):
            time.sleep(0.3 if number else 0)
            os.kill(process.pid, signal.SIGINT)
        said = process.stdout.read()
    assert process.returncode == 7, "the process ends in peace, also with a call under way"
    assert f"stopped {'Interrupted' if times == 1 else 'NoneType'}" in said
    if times == 1:
        assert rechunk.status("t.zarr")["state"] == "interrupted"
        rechunk.apply(
            "v.zarr", "t.zarr", lambda a: a + 1, (5, 8, 10), name="slow", resume=True, max_mem="64MiB", threads=2
        )
        assert (read("t.zarr") == VALUES + 1).all()


def test_a_function_may_call_rechunk(volume: str) -> None:
    def inner(array: Any) -> Any:
        assert rechunk.info(volume)["shape"] == list(SHAPE)
        return array

    rechunk.apply(volume, "t.zarr", inner, (20, 24, 15), **OPTIONS)
    assert (read("t.zarr") == VALUES).all()


def test_progress_is_told(volume: str) -> None:
    told: list[Any] = []
    rechunk.apply(volume, "t.zarr", lambda a: a, (5, 8, 10), progress=told.append, **OPTIONS)
    assert told[-1]["tasks_done"] == told[-1]["tasks_total"] == 36


def test_named_dimensions_and_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_array(tmp_path / "s.zarr", (10, 16, 16), (1, 16, 16))
    options: dict[str, Any] = {"crop": {"lat": 2}, "blend": {"lon": 2}, **OPTIONS}
    work = {"time": 5, "lat": -1, "lon": 8}
    with pytest.raises(rechunk.UsageError, match="labels"):
        rechunk.apply("s.zarr", "t.zarr", lambda a: a, work, labels=True, **options)
    rechunk.apply("s.zarr", "t.zarr", lambda a: a, work, labels=True, blend_mode="max", **options)
    assert (read("t.zarr") == read("s.zarr")).all()
