"""Re-cuts large chunked arrays within a memory budget: planned, resumable, verified.

>>> import rechunk
>>> report = rechunk.copy("sst.zarr", "by-pixel.zarr", chunks={"time": -1, "lat": 4, "lon": 4})
>>> report["tasks"]["done"] == report["tasks"]["total"]
True

`plan` says what a copy would do and cost, and its `Plan` runs it: here (`Plan.run`), or on an engine
(`Plan.execute`). `apply` has an operation, also one in Python, on boxes of an array. `pyramid` makes an
image in several resolutions. `rechunk` has the signature of the package rechunker. Options are those of the command
line, with `_` for `-`: see `rechunk.options`. Every report is the object that the command line prints
with `--json`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rechunk._rechunk import PLAN_VERSION, Cancel, __version__
from rechunk.applying import apply
from rechunk.calls import clean, copy, info, migrate, plan, probe, status, verify
from rechunk.errors import (
    DifferencesFound,
    Interrupted,
    MemoryBudgetError,
    NotYet,
    OperationError,
    RechunkError,
    SourceError,
    TargetError,
    UsageError,
)
from rechunk.planned import Plan
from rechunk.pyramids import pyramid
from rechunk.rechunking import rechunk

if TYPE_CHECKING:
    from rechunk import compat, engines
    from rechunk.functions import Exec, Task

__all__ = [
    "PLAN_VERSION",
    "Cancel",
    "DifferencesFound",
    "Exec",
    "Interrupted",
    "MemoryBudgetError",
    "NotYet",
    "OperationError",
    "Plan",
    "RechunkError",
    "SourceError",
    "TargetError",
    "Task",
    "UsageError",
    "__version__",
    "apply",
    "clean",
    "compat",
    "copy",
    "engines",
    "info",
    "migrate",
    "plan",
    "probe",
    "pyramid",
    "rechunk",
    "status",
    "verify",
]


def __getattr__(name: str) -> object:
    """Imports what takes time to import when it is asked for."""
    import importlib

    if name in ("compat", "engines"):
        return importlib.import_module(f"rechunk.{name}")
    if name in ("Exec", "Task"):
        return getattr(importlib.import_module("rechunk.functions"), name)
    raise AttributeError(f"module 'rechunk' has no attribute {name!r}")
