"""What the stages of a plan ask an engine for, beyond a worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rechunk.errors import UsageError

if TYPE_CHECKING:
    from rechunk.engines.driver import Engine
    from rechunk.planned import Plan


def engines_of_stages(
    engine: Engine, plan: Plan, stage_options: dict[str, dict[str, Any]]
) -> dict[str, Engine]:
    """Finds the engines of the stages that ask for something of their own, before anything is begun."""
    if not stage_options:
        return {}
    names = plan.stage_names
    for name in stage_options:
        if name not in names:
            raise UsageError(
                f"stage_options: the plan has no stage {name!r}", hint=f"its stages are {', '.join(names)}"
            )
    ask: Callable[[dict[str, Any]], Engine] | None = getattr(engine, "with_options", None)
    if ask is None:
        raise UsageError(
            f"stage_options: the engine {engine.name} can be asked for nothing with a part",
            hint="dask, ray and slurm can; leave them out",
        )
    return {name: ask(options) for name, options in stage_options.items()}


def refuse_options(engine: str, options: dict[str, Any], known: tuple[str, ...]) -> None:
    """Refuses options of an engine beyond those that it knows."""
    for name in options:
        if name not in known:
            raise UsageError(
                f"stage_options: the engine {engine} has no option {name!r}",
                hint=f"it has {', '.join(known)}",
            )
