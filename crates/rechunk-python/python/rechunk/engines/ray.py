"""Engine for Ray: parts are its tasks, and Ray gives those of a dead worker to others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from rechunk.engines.rounds import Outcome, rounds
from rechunk.engines.stage_options import refuse_options
from rechunk.engines.worker import missing, tell_part, told
from rechunk.errors import UsageError

OPTIONS = ("num_cpus", "num_gpus", "resources", "scheduling_strategy", "label_selector")
"""Options of Ray's tasks that the parts of a stage may be given with."""


class Ray:
    """The Ray that this process is connected to."""

    name = "ray"

    def __init__(self, ray: Any, owned: bool, options: dict[str, Any] | None = None) -> None:
        self.ray = ray
        self.owned = owned
        self.options = options or {}
        self.workers: int | None = int(ray.cluster_resources().get("CPU", 0)) or None

    def with_options(self, options: dict[str, Any]) -> Ray:
        """Gives its parts these options of Ray's tasks. None waits for a resource that the cluster lacks."""
        refuse_options(self.name, options, OPTIONS)
        names = {"num_cpus": "CPU", "num_gpus": "GPU"}
        asked = {names[name]: count for name, count in options.items() if name in names}
        has = self.ray.cluster_resources()
        for name, count in {**asked, **options.get("resources", {})}.items():
            if has.get(name, 0) < count:
                raise UsageError(
                    f"stage_options: Ray's cluster has {has.get(name, 0):g} of the resource {name!r}, and a "
                    f"part asks for {count:g}",
                    hint="start nodes with it, or ask for less",
                )
        return Ray(self.ray, False, options)

    def missing(self, paths: list[str]) -> str | None:
        """Names a path that a node does not have."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        look = self.ray.remote(num_cpus=0)(missing)
        for node in self.ray.nodes():
            if node["Alive"]:
                there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
                found = self.ray.get(look.options(scheduling_strategy=there).remote(paths))
                if found:
                    return f"{found[0]} on {node['NodeManagerHostname']}"
        return None

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all shares of a stage."""
        task = self.ray.remote(max_retries=retries, **self.options)(tell_part)

        def attempt(shares: list[int]) -> Iterator[Outcome]:
            shared = self.ray.put(work)
            share_of = {task.remote(shared, stage, share, of): share for share in shares}
            left = list(share_of)
            try:
                while left:
                    self.ray.wait(left, num_returns=1)
                    done, left = self.ray.wait(left, num_returns=len(left), timeout=0)
                    for ended in done:
                        yield share_of[ended], self._outcome(ended)
            except BaseException:
                for under_way in left:
                    self.ray.cancel(under_way, force=True)
                raise

        return rounds(of, retries, attempt)

    def _outcome(self, ended: Any) -> str | BaseException:
        try:
            return told(self.ray.get(ended))
        except self.ray.exceptions.RayError as error:
            found: Exception = error
            return found

    def close(self) -> None:
        """Disconnects, if it was connected for this."""
        if self.owned:
            self.ray.shutdown()


def by_name(name: str, workers: int) -> Ray:
    """Takes the Ray that this process is connected to, or that of RAY_ADDRESS; else starts one here."""
    try:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray
    except ImportError:
        raise UsageError("the engine ray needs the package ray", hint="pip install ray") from None
    if ray.is_initialized():
        return Ray(ray, False)
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if not os.environ.get("RAY_ADDRESS"):
        settings |= {"num_cpus": workers, "include_dashboard": False}
    ray.init(**settings)
    return Ray(ray, True)


def of(context: Any) -> Ray:
    """Takes the context that `ray.init` has returned."""
    import ray

    if not ray.is_initialized():
        raise UsageError("this process is not connected to Ray", hint="call ray.init() first")
    return Ray(ray, False)
