"""A planned copy: seen, saved, run here, or in parts anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rechunk._rechunk import Cancel, Job
from rechunk.progress import Progress, listener

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from rechunk.options import PartKeywords, RunKeywords, StoreKeywords

Report = dict[str, Any]


class Plan:
    """The plan of the copy of an array or of a group. `rechunk.plan` makes it.

    >>> import rechunk
    >>> plan = rechunk.plan("sst.zarr", "planned.zarr", chunks=(-1, 4, 4), max_mem="64MiB")
    >>> plan.kind
    'direct'
    >>> plan.cost["target"]["put_requests"]
    16
    >>> report = plan.run()
    >>> report["tasks"]["done"] == report["tasks"]["total"]
    True
    """

    def __init__(self, job: Job, stores: dict[str, Any], held: object = None) -> None:
        """Not to be called: `rechunk.plan` and `Plan.from_json` do."""
        self._job = job
        self._stores = stores
        self._held = held  # what the source is in, and goes with the plan

    @classmethod
    def from_json(cls, text: str, **stores: Unpack[StoreKeywords]) -> Plan:
        """Takes over a saved plan. Nothing is opened until it is run or looked at.

        >>> import rechunk
        >>> text = rechunk.plan("sst.zarr", "saved.zarr", chunks=(-1, 4, 4)).to_json()
        >>> rechunk.Plan.from_json(text).kind
        'direct'
        """
        return cls(Job.read(text, dict(stores)), dict(stores))

    def to_json(self) -> str:
        """Returns the plan as `rechunk plan --out` writes it: for `rechunk run`, and for workers.

        It holds locations, and no options of stores: no secrets.
        """
        return self._job.json()

    @property
    def report(self) -> Report:
        """All that is said of the plan: the object that `rechunk plan --json` prints."""
        return self._job.report()

    @property
    def is_group(self) -> bool:
        """Whether the source is a group."""
        return "arrays" in self.report

    @property
    def kind(self) -> str:
        """The kind of the plan: `direct`, `push-pull`, …; of a group, those of its arrays."""
        report = self.report
        if "plan" in report:
            return str(report["plan"]["kind"])
        kinds = {array["plan"]["kind"] for array in report["arrays"] if "plan" in array}
        return ", ".join(sorted(kinds))

    @property
    def cost(self) -> Report:
        """The predicted requests, bytes, time and price: `estimate` of the report."""
        estimate: Report = self.report["estimate"]
        return estimate

    @property
    def candidates(self) -> list[Report]:
        """Every plan that was searched for, with its price or the reason it was not taken."""
        return list(self.report.get("candidates", []))

    @property
    def stage_names(self) -> list[str]:
        """The names of its stages: `copy`; `push` and `pull`; of an `apply`, `apply` and `combine`."""
        report = self.report
        plans = [report] if "plan" in report else report["arrays"]
        names = [stage["name"] for found in plans if "plan" in found for stage in found["plan"]["stages"]]
        return list(dict.fromkeys(names))

    @property
    def workers(self) -> int:
        """Number of worker processes that it was planned for."""
        return int(self._job.request()["planning"]["workers"])

    @property
    def source(self) -> str:
        """The location of the source."""
        return str(self._job.request()["source"])

    @property
    def target(self) -> str:
        """The location of the target; empty if none was named."""
        return str(self._job.request()["target"])

    @property
    def svg(self) -> str:
        """The plan of one array drawn, as an SVG document."""
        drawn = self._job.svg()
        if drawn is None:
            from rechunk.errors import UsageError

            raise UsageError(
                "svg is the plan of one array, and the source is a group",
                hint="plan one of its arrays; html has the plans of all",
            )
        return drawn

    @property
    def html(self) -> str:
        """The plan as a page to be read in a browser."""
        return self._job.html()

    def explain(self) -> str:
        """Says what the plan does and costs, and which others were considered.

        >>> import rechunk
        >>> print(rechunk.plan("sst.zarr", chunks=(-1, 4, 4)).explain())  # doctest: +ELLIPSIS
        /...sst.zarr → …    direct plan ...
        """
        return self._job.text(True)

    def __repr__(self) -> str:
        """Shows the plan as text, without its rivals."""
        return self._job.text(False)

    def _repr_html_(self) -> str:
        """Draws the plan in a notebook."""
        from html import escape

        drawn = self._job.svg()
        return drawn if drawn is not None else f"<pre>{escape(self._job.text(False))}</pre>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Goes to other processes as its JSON, with the options of its stores."""
        return _read, (self.to_json(), self._stores)

    def run(
        self,
        *,
        progress: Progress = None,
        cancel: Cancel | None = None,
        **options: Unpack[RunKeywords],
    ) -> Report:
        """Runs all of it in this process and returns its report.

        Other threads of Python run meanwhile. Ctrl-C stops it, and raises `KeyboardInterrupt` when it has
        stopped; `resume=True` goes on from there.
        """
        told, close = listener(progress)
        try:
            return self._job.run(dict(options), told, cancel)
        finally:
            close()

    def begin(self, **options: Unpack[RunKeywords]) -> Report:
        """Opens the target to parts; does nothing where that was done before."""
        return self._job.begin(dict(options))

    def run_part(
        self,
        stage: int,
        i: int,
        n: int,
        *,
        progress: Progress = None,
        cancel: Cancel | None = None,
        **options: Unpack[PartKeywords],
    ) -> Report:
        """Does share `i` of `n` of a stage, from 0, on any machine that reaches the stores.

        It may run twice, at once, or late. Raises `NotYet` if the stage before is not complete; `wait`
        waits for it.

        >>> import rechunk
        >>> plan = rechunk.plan("sst.zarr", "parts.zarr", chunks=(-1, 4, 4))
        >>> stages = plan.begin()["stages"]
        >>> sum(plan.run_part(0, i, 2)["tasks"]["marked"] for i in range(2)) == stages[0]["tasks"]
        True
        >>> plan.finish()["tasks"]["done"] == stages[0]["tasks"]
        True
        """
        told, close = listener(progress)
        try:
            return self._job.part(stage, i, n, dict(options), told, cancel)
        finally:
            close()

    def finish(
        self,
        *,
        progress: Progress = None,
        cancel: Cancel | None = None,
        **options: Unpack[PartKeywords],
    ) -> Report:
        """Makes the target known when all parts of all stages are done, and removes the state."""
        told, close = listener(progress)
        try:
            return self._job.finish(dict(options), told, cancel)
        finally:
            close()

    def execute(
        self,
        executor: Any = "threads",
        *,
        parts: int | None = None,
        retries: int = 3,
        stage_options: dict[str, dict[str, Any]] | None = None,
        progress: Progress = None,
        **options: Unpack[RunKeywords],
    ) -> Report:
        """Runs it on an engine, in at most 10 000 parts of each stage, and returns its report.

        `executor` is the name of an engine (see `rechunk.engines`), a `concurrent.futures.Executor` or a
        client of Dask. `parts` is the number of parts of each stage: four for each worker that the plan is
        made for, if it is not given. A part that fails is tried again, `retries` times.

        `stage_options` are what the engine is asked for with the parts of a stage, by its name: which
        workers take the operation of an `apply`, say. `{"apply": {"resources": {"GPU": 1}}}` for Dask,
        `{"apply": {"num_gpus": 1}}` for Ray, `{"apply": {"sbatch": ["--gres=gpu:1"]}}` for Slurm.

        >>> import rechunk
        >>> plan = rechunk.plan("sst.zarr", "engine.zarr", chunks=(-1, 4, 4), workers=2)
        >>> plan.execute("threads")["parts"]["engine"]
        'threads'
        """
        from rechunk.engines import execute

        return execute(
            self,
            executor,
            parts=parts,
            retries=retries,
            stage_options=stage_options or {},
            progress=progress,
            options=dict(options),
        )


def _read(text: str, stores: dict[str, Any]) -> Plan:
    return Plan.from_json(text, **stores)
