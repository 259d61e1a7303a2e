"""Engine for Apache Beam: a stage is a pipeline, a part an element of it."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from typing import Any

from rechunk.engines.rounds import Outcome, rounds
from rechunk.engines.watched import Job, outcomes
from rechunk.engines.worker import tell_part
from rechunk.errors import UsageError

STOP = "stop"
"""File beside the reports; while it is there, no part is begun."""
PID = ".pid"
"""End of the name of a file that says which process has begun a share."""


class Beam:
    """A runner with its options.

    Workers of Beam return nothing to who has started the pipeline: reports are files, in a directory of this
    machine, or below the `temp_location` of the options. Where a runner has given up, or waits for a worker
    that has died (its local one does), a pipeline of what is missing is run.
    """

    name = "beam"

    def __init__(self, runner: Any, options: Any, workers: int | None) -> None:
        from apache_beam.options.pipeline_options import GoogleCloudOptions

        self.runner = runner
        self.options = options
        self.workers = workers
        self.temporary = options.view_as(GoogleCloudOptions).temp_location

    def missing(self, paths: list[str]) -> str | None:
        """Names a path that machines of a cloud do not have."""
        runner = self.options.get_all_options().get("runner") or type(self.runner).__name__
        return f"{paths[0]} on the machines of {runner}" if "Dataflow" in str(runner) else None

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all shares of a stage."""

        def attempt(shares: list[int]) -> Iterator[Outcome]:
            reports = _Reports(self.temporary)
            try:
                job = _Job(self, reports, (work, stage, of), shares)
                yield from outcomes(job, shares, "the pipeline has lost the part")
            finally:
                reports.remove()

        return rounds(of, retries, attempt)

    def close(self) -> None:
        """Ends nothing: a pipeline ends by itself."""


class _Reports:
    """A directory in which workers put their reports, by the number of the share."""

    def __init__(self, temporary: str | None) -> None:
        self.seen: set[str] = set()
        self.is_local = temporary is None
        self.has_stopped = False
        if temporary is None:
            self.folder = tempfile.mkdtemp(prefix="rechunk-beam-")
        else:
            self.folder = f"{temporary.rstrip('/')}/rechunk-{uuid.uuid4()}"

    def new(self) -> Iterator[tuple[int, str]]:
        from apache_beam.io.filesystems import FileSystems

        for found in FileSystems.match([f"{self.folder}/*.json"])[0].metadata_list:
            if found.path in self.seen:
                continue
            self.seen.add(found.path)
            with FileSystems.open(found.path) as file:
                text = file.read().decode()
            yield int(os.path.basename(found.path).partition(".")[0]), text

    def is_stuck(self, left: set[int]) -> bool:
        """Says whether a worker of this machine has died, and no other is under way; none begins then."""
        if not self.is_local:
            return False
        begun = {int(name[:-4]) for name in os.listdir(self.folder) if name.endswith(PID)} & left
        dead = {share for share in begun if not _is_alive(os.path.join(self.folder, f"{share}{PID}"))}
        if dead and not self.has_stopped:
            self.has_stopped = True
            self.write(STOP, "")
        # Its report may have come since.
        dead = {share for share in dead if not os.path.exists(os.path.join(self.folder, f"{share}.json"))}
        return bool(dead) and dead == begun

    def write(self, name: str, text: str) -> None:
        write(f"{self.folder}/{name}", text)

    def remove(self) -> None:
        from apache_beam.io.filesystems import FileSystems

        if self.is_local:
            # What a worker writes after this has no place to go, and fails there.
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        found = FileSystems.match([f"{self.folder}/*"])[0].metadata_list
        # Whoever begins a part later is to see that it is stopped.
        FileSystems.delete([file.path for file in found if not file.path.endswith(f"/{STOP}")])


def _is_alive(path: str) -> bool:
    """Says whether the process whose number is in a file is there."""
    try:
        with open(path, encoding="utf-8") as file:
            os.kill(int(file.read()), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class _Job(Job):
    """A pipeline: local runners return when it has ended."""

    def __init__(
        self, beam: Beam, told: _Reports, work: tuple[str, int, int], shares: list[int]
    ) -> None:
        super().__init__()
        self.beam = beam
        self.told = told
        self.result: Any = None
        self.given = (work, shares)

    def work(self) -> None:
        """Runs it."""
        import apache_beam

        work, shares = self.given
        pipeline = apache_beam.Pipeline(runner=self.beam.runner, options=self.beam.options)
        given = pipeline | "shares" >> apache_beam.Create(shares)
        spread = given | "spread" >> apache_beam.Reshuffle()
        spread | "parts" >> apache_beam.Map(do_part, self.told.folder, *work)
        self.result = pipeline.run()
        self.result.wait_until_finish()

    def reports(self) -> Iterator[tuple[int, str]]:
        """Returns what has come since the last time."""
        return self.told.new()

    def is_stuck(self, left: set[int]) -> bool:
        """Says whether a worker of this machine has died, for which the runner waits."""
        return self.told.is_stuck(left)

    def cancel(self) -> None:
        """Stops it where the runner can; elsewhere parts that are under way go on to their end."""
        self.told.write(STOP, "")
        try:
            if self.result is not None:
                self.result.cancel()
        except NotImplementedError:
            pass


def do_part(share: int, folder: str, work: str, stage: int, of: int) -> None:
    """Does a share, and writes its report: what a worker does."""
    from apache_beam.io.filesystems import FileSystems

    if not FileSystems.exists(f"{folder}/{STOP}"):
        write(f"{folder}/{share}{PID}", str(os.getpid()))
        write(f"{folder}/{share}.json", tell_part(work, stage, share, of))


def write(path: str, text: str) -> None:
    """Writes a file that has its name when it is whole."""
    from apache_beam.io.filesystems import FileSystems

    staged = f"{path}.{uuid.uuid4()}"
    with FileSystems.create(staged) as file:
        file.write(text.encode())
    FileSystems.rename([staged], [path])


def by_name(name: str, workers: int) -> Beam:
    """Takes the runner that is in the package, with processes of this machine."""
    try:
        from apache_beam.options.pipeline_options import PipelineOptions
        from apache_beam.runners.portability.fn_api_runner import FnApiRunner
    except ImportError:
        raise UsageError(
            "the engine beam needs the package apache-beam", hint="pip install apache-beam"
        ) from None
    # Not the default: it asks for another runner in the network first.
    words = ["--direct_running_mode=multi_processing", f"--direct_num_workers={workers}"]
    return Beam(FnApiRunner(), PipelineOptions(words), workers)


def of(given: Any) -> Beam:
    """Takes a `PipelineRunner`, or `PipelineOptions` that name one."""
    from apache_beam.options.pipeline_options import PipelineOptions

    if isinstance(given, PipelineOptions):
        return Beam(None, given, None)
    if hasattr(given, "run_pipeline"):
        return Beam(given, PipelineOptions([]), None)
    raise UsageError(
        f"{type(given).__name__} of Beam is no engine", hint="give PipelineOptions, or a runner"
    )
