"""Copies from store to store in graphs of Dask, done by plans.

>>> import rechunk.dask  # doctest: +SKIP
>>> with rechunk.dask.optimize(max_mem="2GiB") as seen:  # doctest: +SKIP
...     dask.array.from_zarr("sst.zarr").rechunk((-1, 30, 30)).to_zarr("new.zarr")
>>> seen.replaced, seen.left  # doctest: +SKIP
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rechunk.errors import RechunkError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rechunk.options import PlanKeywords
    from rechunk.planned import Plan

LOG = logging.getLogger("rechunk.dask")
LAZY = ("ImplicitToExplicitIndexingAdapter", "CopyOnWriteArray", "LazilyIndexedArray", "ZarrArrayWrapper")
"""Classes of xarray that stand for an array that is stored; one that decodes is not among them."""
GETTERS = ("getter", "getter_inline", "getter_nofancy")
MOVERS = {
    ("_operator", "getitem"),
    ("dask.array.chunk", "getitem"),
    ("dask.array.core", "concatenate3"),
    ("dask.array.core", "concatenate_shaped"),
}
"""Functions of the tasks of a re-chunk."""


@dataclass
class Replaced:
    """A copy that a plan does: where from, where to, and by which kind of plan."""

    source: str
    target: str
    kind: str


@dataclass
class Left:
    """What is stored by Dask as it would be without this, and why; `target` names it."""

    target: str
    reason: str


@dataclass
class Seen:
    """What `optimize` has done with each array that was stored."""

    replaced: list[Replaced] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)


class _Unproven(Exception):
    """Not recognised as a mere copy."""


@contextmanager
def optimize(**options: Unpack[PlanKeywords]) -> Iterator[Seen]:
    """Has plans do what Dask is given to compute in this block, if it only copies Zarr to Zarr.

    That is what comes of `from_zarr` (or of xarray's `open_zarr`, where nothing is decoded), maybe `rechunk`,
    and `to_zarr` or `store`. What is not proven to be this is left to Dask, and named in `left` with the reason.
    Options are those of `rechunk.plan`: `max_mem` is the memory of the worker that gets the task.

    With a client the graph goes to the scheduler. One that is no process of its own (a `LocalCluster`) is as
    without; else the plan is made there, where rechunk has to be installed, and `seen` stays empty.

    Each such array is one task, whose threads are those of the plan: it is written into an array that is
    there, which one process does.
    """
    import dask

    optimizer = _Optimizer(dict(options), dask.config.get("array_optimize", None))
    with dask.config.set(array_optimize=optimizer):
        try:
            yield optimizer.seen
        finally:
            _ACTIVE.pop(optimizer.token, None)


class _Optimizer:
    """What Dask calls with a graph: here, or in the scheduler of a cluster, to which it travels."""

    def __init__(self, options: dict[str, Any], before: Any) -> None:
        self.options = options
        self.before = before
        self.seen = Seen()
        self.token = f"{os.getpid()}-{id(self)}"
        _ACTIVE[self.token] = self

    def __call__(self, graph: Any, keys: Any, **more: Any) -> Any:
        graph = _replace(graph, self.options, self.seen)
        if self.before is not None:
            return self.before(graph, keys, **more) if self.before else graph
        from dask.array.optimization import optimize as usual

        return usual(graph, keys, **more)

    def __reduce__(self) -> tuple[Any, ...]:
        def arrived(token: str, options: dict[str, Any], before: Any) -> Any:
            try:
                from rechunk.dask import _arrived
            except ImportError:  # a scheduler without rechunk: all is left to Dask
                from dask.array.optimization import optimize as usual

                return usual if before is None else before
            return _arrived(token, options, before)

        arrived.__module__ = "__main__"  # so that it goes by value
        return arrived, (self.token, self.options, self.before)


_ACTIVE: dict[str, _Optimizer] = {}


def _arrived(token: str, options: dict[str, Any], before: Any) -> _Optimizer:
    """Finds the one of this process, whose `seen` is looked at; in another process there is none."""
    return _ACTIVE.get(token) or _Optimizer(options, before)


def _replace(graph: Any, options: dict[str, Any], seen: Seen) -> Any:
    from dask.highlevelgraph import HighLevelGraph

    if not isinstance(graph, HighLevelGraph):
        _leave(seen, "the graph", "it has no layers")
        return graph
    layers, dependencies = dict(graph.layers), dict(graph.dependencies)
    for name, layer in graph.layers.items():
        if _function(layer) != "load_store_chunk":
            continue
        target: Any = None
        try:
            target = _target(layer)
            source = _source(graph, name, target)
            planned = _planned(source, target, options)
            layers[name] = _layer(name, layer, planned)
        except _Unproven as reason:
            _leave(seen, name if target is None else _named(target), str(reason))
            continue
        dependencies[name] = set()
        found = Replaced(planned.source, planned.target, planned.kind)
        seen.replaced.append(found)
        LOG.info("%s is copied to %s by a %s plan", found.source, found.target, found.kind)
    return HighLevelGraph(layers, dependencies)


def _leave(seen: Seen, target: str, reason: str) -> None:
    seen.left.append(Left(target, reason))
    LOG.info("%s is stored by Dask: %s", target, reason)


def _function(layer: Any) -> str | None:
    """Name of the function of Dask that a layer of equal tasks calls; of another package's there is none."""
    from dask.blockwise import Blockwise

    function = getattr(getattr(layer, "task", None), "func", None)
    if not isinstance(layer, Blockwise) or function is None:
        return None
    return function.__name__ if function.__module__.startswith("dask.array.") else None


def _is_zarr(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "zarr" and type(value).__name__ == "Array"


def _named(array: Any) -> str:
    return str(getattr(array, "store_path", None) or getattr(array, "path", "") or array)


def _plain(value: Any) -> Any:
    return getattr(value, "value", value)


def _target(layer: Any) -> Any:
    """Returns the Zarr array that a layer stores into, all of it."""
    found = [_plain(value) for value, index in layer.indices if index is None]
    if len(found) != 1 or not _is_zarr(found[0]):
        kinds = ", ".join(sorted({type(value).__name__ for value in found})) or "nothing"
        raise _Unproven(f"the target is no array of zarr, but {kinds}")
    options = {name: _plain(value) for name, value in layer.task.kwargs.items()}
    if options.get("return_stored") or options.get("load_stored"):
        raise _Unproven("what was stored is asked for again")
    if unknown := set(options) - {"region", "lock", "return_stored", "load_stored"}:
        raise _Unproven(f"it is stored with {', '.join(sorted(unknown))}")
    region = options.get("region")
    if region is not None and not _is_whole(region, found[0].shape):
        raise _Unproven("it is stored into a region of the target")
    lock = options.get("lock")
    if lock and type(lock).__name__ not in ("bool", "SerializableLock"):
        raise _Unproven("it is stored under a lock")
    return found[0]


def _is_whole(region: Any, shape: tuple[int, ...]) -> bool:
    cuts = region if isinstance(region, tuple) else (region,)
    return len(cuts) == len(shape) and all(
        isinstance(cut, slice) and cut.indices(length) == (0, length, 1) for cut, length in zip(cuts, shape)
    )


def _source(graph: Any, name: str, target: Any) -> Any:
    """Returns the Zarr array that a layer stores, of which nothing was made but other chunks."""
    (at,) = _one(graph, name)
    while (kind := _function(graph.layers[at])) not in GETTERS:
        if kind is not None or not _is_rechunk(graph.layers[at], at):
            raise _Unproven(f"it is computed (layer {at})")
        (at,) = _one(graph, at)
    (origin,) = _one(graph, at)
    node = dict(graph.layers[origin]).get(origin)
    value = _stored(_plain(node))
    if value.shape != target.shape:
        raise _Unproven(f"the source has the shape {value.shape}, the target {target.shape}")
    if value.dtype != target.dtype:
        raise _Unproven(f"the source is of the type {value.dtype}, the target of {target.dtype}")
    return value


def _one(graph: Any, name: str) -> set[str]:
    found: set[str] = graph.dependencies[name]
    if len(found) != 1:
        raise _Unproven(f"it comes of {len(found)} arrays (layer {name})")
    return found


def _is_rechunk(layer: Any, name: str) -> bool:
    """Says whether a layer only moves elements into other chunks."""
    from dask.highlevelgraph import MaterializedLayer

    if type(layer).__name__ == "P2PRechunkLayer":
        return type(layer).__module__.startswith("distributed.")
    if not name.startswith(("rechunk-merge-", "rechunk-split-")) or not isinstance(layer, MaterializedLayer):
        return False
    return all(_moves(task) for task in layer.mapping.values())


def _moves(task: Any) -> bool:
    """Says whether a task, with all in it, takes and joins blocks and does nothing else."""
    kind = type(task).__name__
    if kind in ("Alias", "DataNode", "TaskRef"):
        return True
    if kind not in ("Task", "List") or getattr(task, "kwargs", None) and kind == "Task":
        return False
    function = getattr(task, "func", None)
    if kind == "Task" and (getattr(function, "__module__", ""), getattr(function, "__name__", "")) not in MOVERS:
        return False
    return all(_moves(part) for part in task.args if type(part).__module__ == "dask._task_spec")


def _stored(value: Any) -> Any:
    """Returns the array of zarr that `value` is, or stands for without a change."""
    while not _is_zarr(value):
        kind = type(value)
        if not kind.__module__.startswith("xarray.") or kind.__name__ not in LAZY:
            raise _Unproven(f"the source is no array of zarr, but {kind.__module__}.{kind.__qualname__}")
        inner = value._array if kind.__name__ == "ZarrArrayWrapper" else value.array
        key = getattr(value, "key", None)
        if key is not None and not _is_whole(key.tuple, inner.shape):
            raise _Unproven("a part was selected of the source")
        if inner.shape != value.shape or inner.dtype != value.dtype:
            raise _Unproven("the source was changed when it was opened")
        value = inner
    return value


def _planned(source: Any, target: Any, options: Mapping[str, Any]) -> Plan:
    from rechunk.calls import plan

    region = (slice(None),) * len(target.shape)
    if not region:
        raise _Unproven("it has no axis")
    for name in ("units", "calendar"):  # a plan would count times anew, where Dask copies numbers
        one, other = source.attrs.get(name), target.attrs.get(name)
        if one is not None and other is not None and one != other:
            raise _Unproven(f"the attribute {name} is {one!r} of the source and {other!r} of the target")
    if _named(source) == _named(target):
        raise _Unproven("the source is the target")
    try:
        # Attributes say nothing of numbers that are copied as they are, with Dask or without.
        planned = plan(source, target, region=region, **{"trust": "*", **options})
    except RechunkError as error:
        raise _Unproven(f"there is no plan: {error.message}") from None
    if planned.report["growth"].get("counted_anew"):  # as the array beside it says, whose limits these are
        raise _Unproven("a plan would count its times anew: the units of source and target differ")
    return planned


def _layer(name: str, layer: Any, planned: Plan) -> Any:
    """Makes the layer of one task that runs the plan; all keys of the old one stand for it."""
    from dask._task_spec import Alias, Task
    from dask.highlevelgraph import MaterializedLayer

    whole = f"rechunk-plan-{name}"
    nodes: dict[Any, Any] = {whole: Task(whole, run, planned.to_json(), dict(planned._stores))}
    nodes |= {key: Alias(key, whole) for key in layer.get_output_keys()}
    return MaterializedLayer(nodes)


def run(plan: str, stores: dict[str, Any]) -> None:
    """Runs a plan in a worker; goes on where another worker has died."""
    from rechunk.calls import status
    from rechunk.planned import Plan

    planned = Plan.from_json(plan, **stores)
    planned.run(resume=status(planned.target, **stores)["state"] == "interrupted")
