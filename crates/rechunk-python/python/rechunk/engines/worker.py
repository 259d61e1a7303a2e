"""Work of an engine's worker: one share of a stage.

`python -m rechunk.engines.worker WORK.json STAGE INDEX OF` does one from a shell, and prints its report.
"""

from __future__ import annotations

import json
import os
from typing import Any

from rechunk._rechunk import PLAN_VERSION, Cancel
from rechunk.errors import RechunkError, TargetError, UsageError, from_json
from rechunk.planned import Plan


def run_part(work: str, stage: int, index: int, of: int, cancel: Cancel | None = None) -> str:
    """Does share `index` of `of` of a stage and returns its report as JSON. `work` comes from the driver."""
    job = json.loads(work)
    if job["plan_version"] != PLAN_VERSION:
        raise UsageError(
            f"the driver makes plans of version {job['plan_version']}, this worker runs {PLAN_VERSION}",
            hint="install the same version of rechunk on the driver and on all workers",
        )
    state = job["state"]
    if state is not None and not os.path.exists(state) and not os.path.exists(job["target"]):
        raise TargetError(
            f"{job['target']} is not there where this worker runs",
            location=job["target"],
            hint="give locations that the driver and all workers reach: a shared file system, or a URL",
        )
    plan = Plan.from_json(job["plan"], **job["stores"])
    return json.dumps(plan.run_part(stage, index, of, cancel=cancel, **job["options"]))


def tell_part(work: str, stage: int, index: int, of: int) -> str:
    """Does a share as `run_part` does, and returns an error of ours as JSON, too.

    For engines that make their own exceptions, or mere texts, of those of their workers.
    """
    try:
        return run_part(work, stage, index, of)
    except RechunkError as error:
        return json.dumps({"error": error.to_json()})


def told(text: str) -> str | RechunkError:
    """Returns the report that `tell_part` has returned, or the error."""
    found = json.loads(text)
    return from_json(found["error"]) if "error" in found else text


def missing(paths: list[str]) -> list[str]:
    """Returns those of `paths` that are not there where this runs."""
    return [path for path in paths if not os.path.exists(path)]


def work_of(plan: Plan, stores: dict[str, Any], options: dict[str, Any]) -> str:
    """Returns what workers are given, as JSON."""
    target = plan.target
    state = target.rstrip("/") + ".rechunk"
    is_local = "://" not in target
    return json.dumps(
        {
            "plan_version": PLAN_VERSION,
            "plan": plan.to_json(),
            "stores": stores,
            "options": options,
            "target": target,
            "state": state if is_local and os.path.exists(state) else None,
        }
    )


if __name__ == "__main__":
    import sys

    with open(sys.argv[1], encoding="utf-8") as file:
        print(run_part(file.read(), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
