"""Runs the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

MODULES = [
    "rechunk",
    "rechunk.applying",
    "rechunk.arrays",
    "rechunk.calls",
    "rechunk.compat.rechunker",
    "rechunk.compat.rechunker.algorithm",
    "rechunk.compat.rechunker.api",
    "rechunk.errors",
    "rechunk.functions",
    "rechunk.locations",
    "rechunk.planned",
    "rechunk.pyramids",
    "rechunk.rechunking",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(sst: Path, name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0 and done.failed == 0
