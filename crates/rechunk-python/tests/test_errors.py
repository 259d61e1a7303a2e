"""Exceptions by exit class, and what they carry."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rechunk
from conftest import files, make_array


@pytest.mark.parametrize(
    "kind, call",
    [
        (rechunk.UsageError, lambda: rechunk.plan("sst.zarr", chunks="no,such,chunks")),
        (rechunk.UsageError, lambda: rechunk.plan("sst.zarr", chunks=(1, 2))),
        (rechunk.SourceError, lambda: rechunk.plan("nothing.zarr")),
        (rechunk.TargetError, lambda: rechunk.copy("sst.zarr", "sst.zarr")),
        (rechunk.MemoryBudgetError, lambda: rechunk.plan("sst.zarr", chunks=(-1, 4, 4), max_mem=1000)),
        (rechunk.DifferencesFound, lambda: rechunk.verify("sst.zarr", "other.zarr", check=True)),
    ],
)
def test_each_class_has_its_exception(sst: Path, kind: type[Exception], call: Callable[[], Any]) -> None:
    make_array(sst.parent / "other.zarr", (10, 16, 16), (1, 16, 16), fill=1)
    with pytest.raises(kind) as raised:
        call()
    error = raised.value
    assert isinstance(error, rechunk.RechunkError) and type(error) is kind
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))
    assert "--" not in str(error), "options are called as in Python"


def test_exit_codes_are_those_of_the_command_line() -> None:
    kinds = {kind.__name__: kind.exit_code for kind in rechunk.RechunkError.__subclasses__()}
    assert kinds == {
        "UsageError": 2,
        "SourceError": 3,
        "TargetError": 4,
        "MemoryBudgetError": 5,
        "DifferencesFound": 6,
        "NotYet": 7,
        "Interrupted": 130,
        "OperationError": 1,
    }


def test_a_damaged_chunk_is_named(sst: Path) -> None:
    chunk = sorted(sst.glob("[0-9]*"))[3]
    chunk.write_bytes(b"not a chunk")
    with pytest.raises(rechunk.SourceError) as raised:
        rechunk.copy("sst.zarr", "t.zarr", chunks=(-1, 4, 4))
    error = raised.value
    assert error.key is not None and error.key.endswith(chunk.name)
    assert error.chunk == tuple(map(int, chunk.name.split(".")))
    assert error.array is not None and error.array.endswith("sst.zarr")


def test_wrong_values_say_what_to_give(sst: Path) -> None:
    for options, words in (
        ({"max_mem": "parrots"}, "max_mem"),
        ({"chunk": (1, 1, 1)}, "is it chunks?"),
        ({"overwrite": "yes"}, "overwrite"),
        ({"threads": 0}, "threads"),
        ({"strategy": "best"}, "push-pull"),
        ({"chunks": object()}, "object"),
        ({"append": "time", "region": "time=0:1"}, "region"),
        ({"codec": object()}, "codec: a value of the type object"),
        ({"codec": [{"id": {1, 2}}]}, "codec: a value of the type set"),
    ):
        with pytest.raises(rechunk.UsageError, match=words):
            rechunk.copy("sst.zarr", "t.zarr", **options)  # type: ignore[arg-type]
    with pytest.raises(rechunk.UsageError, match="not a saved plan"):
        rechunk.Plan.from_json("[]")
    no_store: Any = None
    for call in (rechunk.info, rechunk.plan, rechunk.status, lambda no_source: rechunk.copy(no_source, "t.zarr")):
        with pytest.raises(rechunk.UsageError, match="NoneType names no store"):
            call(no_store)
    plan = rechunk.plan("sst.zarr", "t.zarr", chunks=(-1, 4, 4))
    for part, words in (((-1, 0, 2), "no stage -1"), ((0, -1, 2), "-1/2"), ((0, 2, 2), "no share 2 of 2")):
        with pytest.raises(rechunk.UsageError, match=words):
            plan.run_part(*part)


def test_memory_errors_know_the_least(sst: Path) -> None:
    with pytest.raises(rechunk.MemoryBudgetError) as raised:
        rechunk.plan("sst.zarr", chunks=(-1, 4, 4), max_mem=1000)
    least = raised.value.minimum_bytes
    assert least is not None
    rechunk.plan("sst.zarr", chunks=(-1, 4, 4), max_mem=least)


def test_a_target_that_exists_is_refused(sst: Path) -> None:
    rechunk.copy("sst.zarr", "t.zarr")
    with pytest.raises(rechunk.TargetError, match="overwrite=True") as raised:
        rechunk.copy("sst.zarr", "t.zarr")
    assert raised.value.location == str(sst.parent / "t.zarr")
    rechunk.copy("sst.zarr", "t.zarr", overwrite=True)


def test_cancel_stops_a_run_from_another_thread(cube: Path, tmp_path: Path) -> None:
    cancel, begun = rechunk.Cancel(), threading.Event()
    threading.Thread(target=lambda: (begun.wait(), cancel.cancel())).start()
    with pytest.raises(rechunk.Interrupted):
        # No faster than this, so that it is not over before.
        rechunk.copy(
            cube,
            tmp_path / "t.zarr",
            chunks=(-1, 8, 8),
            bwlimit="200kB",
            cancel=cancel,
            progress=lambda _: begun.set(),
        )
    assert cancel.cancelled
    rechunk.copy(cube, tmp_path / "t.zarr", chunks=(-1, 8, 8), resume=True)
    assert rechunk.verify(cube, tmp_path / "t.zarr")["equal"]


def test_ctrl_c_is_answered_and_the_run_goes_on_later(cube: Path, tmp_path: Path) -> None:
    program = f"""
import sys, rechunk
try:
    rechunk.copy({str(cube)!r}, {str(tmp_path / "t.zarr")!r}, chunks=(-1, 8, 8), max_mem="64MiB",
                 bwlimit="200kB", progress=lambda state: print("begun", flush=True))
except KeyboardInterrupt as stopped:
    assert isinstance(stopped.__cause__, rechunk.Interrupted), stopped.__cause__
    print("stopped", stopped.__cause__.exit_code, stopped.__cause__.hint is not None)
    sys.exit(7)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        os.kill(process.pid, signal.SIGINT)
        said = process.stdout.read()
    assert process.returncode == 7 and "stopped 130 True" in said
    assert rechunk.status(tmp_path / "t.zarr")["state"] == "interrupted"
    rechunk.copy(cube, tmp_path / "t.zarr", chunks=(-1, 8, 8), max_mem="64MiB", resume=True)
    rechunk.copy(cube, tmp_path / "whole.zarr", chunks=(-1, 8, 8), max_mem="64MiB")
    assert files(tmp_path / "t.zarr") == files(tmp_path / "whole.zarr")


def test_other_threads_run_meanwhile(cube: Path, tmp_path: Path) -> None:
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    rechunk.copy(cube, tmp_path / "t.zarr", chunks=(-1, 8, 8))
    after = counted[0]
    stop.set()
    thread.join()
    assert after > before
