"""Engine for Parsl: parts are its apps, on whatever its configuration starts."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import as_completed
from typing import Any

from rechunk.engines.rounds import Outcome, rounds
from rechunk.engines.worker import told
from rechunk.errors import UsageError


class Parsl:
    """A `DataFlowKernel`. Parsl cannot take back what was given out: on Ctrl-C those parts go on to their end."""

    name = "parsl"

    def __init__(
        self, kernel: Any, workers: int | None, owned: bool, folder: tempfile.TemporaryDirectory[str] | None
    ) -> None:
        self.kernel = kernel
        self.owned = owned
        self.workers = workers
        self.folder = folder

    def run(self, work: str, stage: int, of: int, retries: int) -> Iterator[str]:
        """Does all shares of a stage."""
        from parsl import python_app

        # Without its cache, in which a lost part would be found.
        app = python_app(_part, data_flow_kernel=self.kernel, cache=False)

        def attempt(shares: list[int]) -> Iterator[Outcome]:
            share_of = {app(work, stage, share, of): share for share in shares}
            for future in as_completed(share_of):
                error = future.exception()
                yield share_of[future], told(future.result()) if error is None else error

        return rounds(of, retries, attempt)

    def close(self) -> None:
        """Ends the kernel and its workers, if they are ours."""
        if self.owned:
            self.kernel.cleanup()
        if self.folder is not None:
            self.folder.cleanup()


def _part(work: str, stage: int, share: int, of: int) -> str:
    from rechunk.engines.worker import tell_part  # Parsl sends the function without its module

    return tell_part(work, stage, share, of)


def by_name(name: str, workers: int) -> Parsl:
    """Takes the kernel that is loaded; without one it starts processes of this machine."""
    try:
        import parsl
    except ImportError:
        raise UsageError("the engine parsl needs the package parsl", hint="pip install parsl") from None
    from parsl.errors import NoDataFlowKernelError
    from parsl.executors import HighThroughputExecutor
    from parsl.providers import LocalProvider

    try:
        return Parsl(parsl.dfk(), None, False, None)
    except NoDataFlowKernelError:
        pass
    folder = tempfile.TemporaryDirectory(prefix="rechunk-parsl-", ignore_cleanup_errors=True)
    # Its commands are beside this Python, which is not always on PATH.
    commands = os.path.dirname(sys.executable)
    exchange = os.path.join(commands, "interchange.py")
    executor = HighThroughputExecutor(
        label="rechunk",
        max_workers_per_node=workers,
        address="127.0.0.1",
        loopback_address="127.0.0.1",
        heartbeat_period=2,
        heartbeat_threshold=10,
        interchange_launch_cmd=[exchange] if os.path.exists(exchange) else None,
        provider=LocalProvider(
            init_blocks=1, max_blocks=1, worker_init=f"export PATH={shlex.quote(commands)}:$PATH"
        ),
    )
    return _started(executor, workers, folder)


def _started(executor: Any, workers: int | None, folder: tempfile.TemporaryDirectory[str]) -> Parsl:
    from parsl import DataFlowKernel
    from parsl.config import Config

    config = Config(
        executors=[executor], run_dir=folder.name, usage_tracking=0, initialize_logging=False, strategy="none"
    )
    return Parsl(DataFlowKernel(config), workers, True, folder)


def of(given: Any) -> Parsl:
    """Takes a `DataFlowKernel` of the caller's, or an executor of Parsl, which is started and ended."""
    if hasattr(given, "executors") and hasattr(given, "submit"):
        return Parsl(given, None, False, None)
    folder = tempfile.TemporaryDirectory(prefix="rechunk-parsl-", ignore_cleanup_errors=True)
    return _started(given, None, folder)
