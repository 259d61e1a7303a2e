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
| `"dask"`, a `distributed.Client` or cluster | the workers of the current client, or of that one |
| `"ray"`, what `ray.init()` has returned | the Ray that this process is connected to, else one started here |
| `"spark"`, a `SparkContext` or `SparkSession` | executors of the active context, or of that one |
| `"beam"`, `PipelineOptions` or a runner | Beam's runner in the package, with processes; or that one |
| `"lithops"`, a `FunctionExecutor` | processes of this machine, or the functions of that one |
| `"parsl"`, a `DataFlowKernel` or an executor of Parsl | the kernel that is loaded, or that one |
| `"slurm"`, a `rechunk.engines.slurm.Slurm` | arrays of jobs, in the current directory or that one |

What a name starts is on this machine (but for Slurm), has as many workers as the plan, and is ended again. Another
engine is an object with the attributes of `Engine`; or it calls `run_part` itself.
"""

from __future__ import annotations

from rechunk.engines.driver import Engine, execute
from rechunk.engines.worker import run_part

__all__ = ["Engine", "execute", "run_part"]
