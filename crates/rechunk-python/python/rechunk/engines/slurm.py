"""Engine for Slurm: a stage is an array of jobs, a part one of them.

`python -m rechunk.engines.slurm DIRECTORY INDEX` is what a job runs.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from rechunk.engines.rounds import Outcome, rounds
from rechunk.engines.stage_options import refuse_options
from rechunk.engines.worker import tell_part, told
from rechunk.errors import RechunkError, UsageError

LOOK_SECONDS = 1.0
"""How often it is looked for reports, which are files."""
ASK_SECONDS = 5.0
"""How often the queue is asked for."""
LATE_SECONDS = 5.0
"""How long a file of a job that has ended may take to be seen over a network file system."""
ARRAY_MAX = 1001
"""Slurm's default for MaxArraySize, if it does not say its own."""


class Slurm:
    """Jobs of Slurm.

    `directory` is one that this machine and all nodes see; by default it is the current one. `options` are
    those of sbatch for each part, like `["--mem=2500M", "--time=2:00:00"]`; variables `SBATCH_*` hold as well.
    """

    name = "slurm"
    workers: int | None = None

    def __init__(
        self, directory: str | os.PathLike[str] = ".", options: Sequence[str] = (), python: str | None = None
    ) -> None:
        """Looks for the commands of Slurm. `python` is that of the nodes; by default it is this one."""
        for command in ("sbatch", "squeue", "scancel"):
            if shutil.which(command) is None:
                raise UsageError(
                    f"the engine slurm needs the command {command}, which is not on PATH",
                    hint="run this where jobs are submitted",
                )
        self.directory = os.path.abspath(os.fspath(directory))
        self.options = list(options)
        self.python = python or sys.executable

    def with_options(self, options: dict[str, Any]) -> Slurm:
        """Submits its parts with further options of sbatch: `{"sbatch": ["--gres=gpu:1"]}`."""
        refuse_options(self.name, options, ("sbatch",))
        more = options.get("sbatch", ())
        if isinstance(more, str):
            raise UsageError("stage_options: sbatch is a list of options", hint='write ["--gres=gpu:1"]')
        return Slurm(self.directory, [*self.options, *more], self.python)

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all shares of a stage."""
        most = _array_max()

        def attempt(shares: list[int]) -> Iterator[Outcome]:
            # Readable by its owner alone: options of stores may be secrets.
            with tempfile.TemporaryDirectory(
                prefix="rechunk-slurm-", dir=self.directory, ignore_cleanup_errors=True
            ) as folder:
                jobs: list[str] = []
                try:
                    for number, first in enumerate(range(0, len(shares), most)):
                        some = shares[first : first + most]
                        below = os.path.join(folder, str(number))
                        os.makedirs(os.path.join(below, "done"))
                        _write(below, {"work": work, "stage": stage, "of": of, "shares": some})
                        jobs.append(self._submit(below, len(some), stage))
                    yield from _awaited(folder, jobs, shares)
                except BaseException:
                    if jobs:
                        subprocess.run(["scancel", *jobs], check=False, capture_output=True)
                    raise

        return rounds(of, retries, attempt)

    def _submit(self, folder: str, count: int, stage: int) -> str:
        command = [self.python, "-m", "rechunk.engines.slurm", folder]
        words = [
            *("sbatch", "--parsable", f"--array=0-{count - 1}", f"--job-name=rechunk-{stage}"),
            *("--output=/dev/null", f"--error={folder}/%a.log", f"--chdir={self.directory}"),
            *self.options,
            f"--wrap=exec {shlex.join(command)} $SLURM_ARRAY_TASK_ID",
        ]
        done = subprocess.run(words, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise RechunkError("sbatch has refused the jobs", causes=[done.stderr.strip()])
        return done.stdout.strip().partition(";")[0]

    def close(self) -> None:
        """Ends nothing: there is nothing that outlives a stage."""


def _array_max() -> int:
    """Number of jobs in an array: their greatest index is less than Slurm's MaxArraySize."""
    done = subprocess.run(["scontrol", "show", "config"], check=False, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "MaxArraySize" and value.strip().isdigit():
            return max(1, int(value))
    return ARRAY_MAX


def _write(folder: str, round_: dict[str, object]) -> None:
    path = os.path.join(folder, "round.json")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(round_, file)


def _awaited(folder: str, jobs: list[str], shares: list[int]) -> Iterator[Outcome]:
    """Yields reports as they come, until none of the jobs is in the queue; then what is missing has failed."""
    left = set(shares)
    asked = time.monotonic()
    ended: float | None = None
    while left:
        for number in range(len(jobs)):
            done = os.path.join(folder, str(number), "done")
            for name in os.listdir(done):
                share = int(name.partition(".")[0])
                if share in left and name.endswith(".json"):
                    with open(os.path.join(done, name), encoding="utf-8") as file:
                        text = file.read()
                    left.remove(share)
                    yield share, told(text)
        now = time.monotonic()
        if ended is not None and now - ended > LATE_SECONDS:
            break
        if ended is None and now - asked >= ASK_SECONDS:
            asked = now
            if not _is_queued(jobs):
                ended = now
        if left:
            time.sleep(LOOK_SECONDS)
    for share in left:
        yield share, RuntimeError(f"the job has ended without a report; it said: {_said(folder, shares, share)}")


def _is_queued(jobs: list[str]) -> bool:
    """Says whether one of the jobs is waiting or running; if Slurm does not answer, it is."""
    done = subprocess.run(
        ["squeue", "--noheader", f"--jobs={','.join(jobs)}", "--format=%T"],
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        return "Invalid job id" not in done.stderr  # it was forgotten, long after its end
    return bool(done.stdout.strip())


def _said(folder: str, shares: list[int], share: int) -> str:
    place = shares.index(share)
    for number in sorted(os.listdir(folder), key=int):
        with open(os.path.join(folder, number, "round.json"), encoding="utf-8") as file:
            count = len(json.load(file)["shares"])
        if place < count:
            try:
                with open(os.path.join(folder, number, f"{place}.log"), encoding="utf-8") as file:
                    return file.read()[-2000:].strip() or "nothing"
            except OSError:
                return "nothing"
        place -= count
    return "nothing"


def do_part(folder: str, index: int) -> None:
    """Does the share that is `index`-th in the list of a round, and writes its report: what a job does."""
    with open(os.path.join(folder, "round.json"), encoding="utf-8") as file:
        given = json.load(file)
    share = given["shares"][index]
    text = tell_part(given["work"], given["stage"], share, given["of"])
    path = os.path.join(folder, "done", f"{share}.json")
    staged = f"{path}.{os.getpid()}"
    with open(staged, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(staged, path)


def by_name(name: str, workers: int) -> Slurm:
    """Takes the Slurm whose commands are on PATH, and the current directory."""
    engine = Slurm()
    engine.workers = workers
    return engine


if __name__ == "__main__":
    do_part(sys.argv[1], int(sys.argv[2]))
