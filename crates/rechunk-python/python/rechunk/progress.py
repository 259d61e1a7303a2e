"""Progress of a run: a bar, or whatever is called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Union

State = Mapping[str, Any]
Progress = Union[bool, None, Callable[..., Any]]
"""`True` for a bar, a class like `tqdm`, or a callable that is given a `dict` now and then."""


def listener(progress: Progress) -> tuple[Callable[[State], None] | None, Callable[[], None]]:
    """Returns what is called with each state, and what is called in the end."""
    if progress is None or progress is False:
        return None, lambda: None
    kind = _bar_kind() if progress is True else progress
    if isinstance(kind, type) and hasattr(kind, "update"):
        bar = _Bar(kind)
        return bar, bar.close
    return kind, lambda: None


def _bar_kind() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _PlainBar
    return tqdm


class _PlainBar:
    """The part of tqdm that is used, where tqdm is not installed: a line that is written anew."""

    def __init__(self, total: float = 0, desc: str = "", **_: Any) -> None:
        self.total, self.desc, self.n = total, desc, 0.0

    def update(self, n: float) -> None:
        self.n += n
        if sys.stderr.isatty() and self.total:
            done = 100 * min(self.n / self.total, 1.0)
            sys.stderr.write(f"\r{self.desc}: {done:5.1f} %")
            sys.stderr.flush()

    def close(self) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\n")


class _Bar:
    """A bar for each stage of each array."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.bar: Any = None
        self.of: tuple[Any, ...] | None = None
        self.done = 0

    def __call__(self, state: State) -> None:
        of = (state.get("array"), state["stage_number"])
        if not state["stage"]:
            return
        if of != self.of:
            self.close()
            words = [str(part) for part in (state.get("array"), state["stage"]) if part]
            total = state["bytes_total"]
            self.bar = self.kind(total=total, desc=" ".join(words), unit="B", unit_scale=True)
            self.of, self.done = of, 0
        if self.bar is not None and state["bytes_done"] > self.done:
            self.bar.update(state["bytes_done"] - self.done)
            self.done = state["bytes_done"]

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
