"""Sources, the command line, and an object store for the tests."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

ROOT = Path(__file__).resolve().parents[3]
BINARIES = Path(os.environ.get("RECHUNK_BINARIES", ROOT / "target/debug"))
BUCKET = "rechunk-test"


def make_array(
    path: Path, shape: tuple[int, ...], chunks: tuple[int, ...], zarr_format: int = 2, fill: int = 0
) -> Path:
    """Makes an array with named dimensions, no two of whose elements are equal; `fill` is the first."""
    names = ["time", "lat", "lon"][: len(shape)]
    more: dict[str, Any] = {"dimension_names": names} if zarr_format == 3 else {}
    array = zarr.create_array(
        str(path), shape=shape, chunks=chunks, dtype="f4", zarr_format=zarr_format, fill_value=-1, **more
    )
    array[...] = (np.arange(np.prod(shape), dtype="f4") + fill).reshape(shape)
    if zarr_format == 2:
        array.attrs["_ARRAY_DIMENSIONS"] = names
    return path


@pytest.fixture
def sst(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small array, `sst.zarr` in the current directory."""
    monkeypatch.chdir(tmp_path)
    return make_array(tmp_path / "sst.zarr", (10, 16, 16), (1, 16, 16))


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """An array whose re-cutting into columns takes many tasks."""
    return make_array(tmp_path / "cube.zarr", (64, 96, 96), (4, 96, 96), zarr_format=3)


@pytest.fixture(scope="session")
def cli() -> Callable[..., dict[str, Any]]:
    """Runs the command line; the object that it prints with `--json`."""

    def run(*arguments: Any, code: int = 0) -> dict[str, Any]:
        command = [str(BINARIES / "rechunk"), *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An S3 server on loopback; the environment by which it is reached, which is set."""
    root = tmp_path_factory.mktemp("s3")
    command = [str(BINARIES / "rechunk-testkit"), "serve", "s3", "--root", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        environment = {}
        url = server.stdout.readline().split()[3]
        server.stdout.readline()
        while "AWS_DEFAULT_REGION" not in environment:
            name, _, value = server.stdout.readline().removeprefix("export ").partition("=")
            environment[name] = value.strip().strip("'")
        before = dict(os.environ)
        os.environ.update(environment)
        yield {"url": url.removesuffix("/KEY"), **environment}
        os.environ.clear()
        os.environ.update(before)
        server.terminate()


def files(folder: Path) -> dict[str, bytes]:
    """All files of a store, by name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
