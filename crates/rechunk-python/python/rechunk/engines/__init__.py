"""Engines that do a plan in parts: each takes tens of lines, and none plans.

An engine task is a share of a stage (`Plan.run_part`). The plan's JSON and four numbers travel, with the
options of stores that the plan was given; a worker reads and writes the stores itself and returns its
report, a few hundred bytes. Parts may run twice, late, or be killed: a task that died is given out again.
When the driver has died, the same call goes on where it was.

| `executor` | what runs the parts |
|---|---|
| `"threads"` | threads of this process, as many as the plan has workers |
| `"processes"` | new processes of this machine |
| a `concurrent.futures.Executor` | its workers |
| `"dask"`, a `distributed.Client` | the workers of the current client, or of that one |

Others that have such an Executor may work as they are (none was tried); or they call `run_part` themselves.
"""

from __future__ import annotations

from rechunk.engines.driver import Engine, execute
from rechunk.engines.worker import run_part

__all__ = ["Engine", "execute", "run_part"]
