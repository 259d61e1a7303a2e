from collections.abc import Callable, Mapping, Sequence
from typing import Any

__version__: str
PLAN_VERSION: int

_Options = Mapping[str, Any]
_Told = Callable[[Mapping[str, Any]], object] | None
_Stage = tuple[list[int], list[int], list[int]]

class Cancel:
    """Stops the work that it was given to; what is done is kept."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Asks the work to stop."""
    @property
    def cancelled(self) -> bool:
        """Whether it was asked for."""

class Job:
    @staticmethod
    def prepare(source: str, target: str, options: _Options) -> Job: ...
    @staticmethod
    def read(json: str, options: _Options) -> Job: ...
    def json(self) -> str: ...
    def request(self) -> dict[str, Any]: ...
    def report(self) -> dict[str, Any]: ...
    def text(self, all: bool) -> str: ...
    def svg(self) -> str | None: ...
    def html(self) -> str: ...
    def run(
        self, options: _Options, progress: _Told = None, cancel: Cancel | None = None
    ) -> dict[str, Any]: ...
    def begin(self, options: _Options) -> dict[str, Any]: ...
    def part(
        self,
        stage: int,
        index: int,
        of: int,
        options: _Options,
        progress: _Told = None,
        cancel: Cancel | None = None,
    ) -> dict[str, Any]: ...
    def finish(
        self, options: _Options, progress: _Told = None, cancel: Cancel | None = None
    ) -> dict[str, Any]: ...

class Elements:
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

def apply(
    sources: Sequence[str],
    target: str,
    options: _Options,
    callable: Callable[[Sequence[Elements], tuple[Any, ...], Elements], bool] | None = None,
    progress: _Told = None,
    cancel: Cancel | None = None,
) -> dict[str, Any]: ...
def pyramid(
    source: str,
    target: str,
    options: _Options,
    progress: _Told = None,
    cancel: Cancel | None = None,
) -> dict[str, Any]: ...
def info(location: str, options: _Options) -> tuple[dict[str, Any], str]: ...
def verify(
    a: str, b: str, options: _Options, progress: _Told = None, cancel: Cancel | None = None
) -> tuple[bool, dict[str, Any]]: ...
def status(target: str, options: _Options) -> dict[str, Any]: ...
def clean(target: str, options: _Options) -> dict[str, Any]: ...
def migrate(
    location: str, options: _Options, cancel: Cancel | None = None
) -> dict[str, Any]: ...
def probe(location: str, known: str | None, options: _Options) -> tuple[dict[str, Any], str]: ...
def parse_bytes(text: str) -> int | None: ...
def consolidate_chunks(
    shape: Sequence[int],
    chunks: Sequence[int],
    itemsize: int,
    max_mem: int,
    chunk_limits: Sequence[int | None] | None = None,
) -> list[int]: ...
def calculate_stage_chunks(
    read_chunks: Sequence[int], write_chunks: Sequence[int], stage_count: int
) -> list[list[int]]: ...
def calculate_single_stage_io_ops(
    shape: Sequence[int], in_chunks: Sequence[int], out_chunks: Sequence[int]
) -> int: ...
def rechunking_plan(
    shape: Sequence[int],
    source_chunks: Sequence[int],
    target_chunks: Sequence[int],
    itemsize: int,
    max_mem: int,
    consolidate_reads: bool,
    consolidate_writes: bool,
) -> _Stage: ...
def multistage_rechunking_plan(
    shape: Sequence[int],
    source_chunks: Sequence[int],
    target_chunks: Sequence[int],
    itemsize: int,
    min_mem: int,
    max_mem: int,
    consolidate_reads: bool,
    consolidate_writes: bool,
) -> tuple[list[_Stage], bool]: ...
