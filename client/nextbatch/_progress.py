"""How far a run is: on the terminal, or told to a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

_WIDTH = 30


@dataclass(frozen=True)
class Progress:
    """Measurements done by this call, the budget, and the best of this call with its candidate."""

    done: int
    budget: int
    best: float | None
    key: str | None

    def __str__(self) -> str:
        filled = round(_WIDTH * min(1.0, self.done / self.budget))
        best = f"  best {self.best:.4g} ({self.key})" if self.best is not None else ""
        return f"{'━' * filled}{'─' * (_WIDTH - filled)} {self.done}/{self.budget}{best}"


Show: TypeAlias = Callable[[int, tuple[float, str] | None], None]


@contextmanager
def shown_by(progress: bool | Callable[[Progress], None] | None, budget: int) -> Iterator[Show]:
    """A function to be told of every finished suggestion; by default a line on the terminal, if there is one."""
    on_terminal = progress is True or (progress is None and sys.stderr.isatty())
    tell = progress if callable(progress) else _line if on_terminal else None
    done = 0

    def show(measured: int, best: tuple[float, str] | None) -> None:
        nonlocal done
        done += measured
        if tell is not None:
            tell(Progress(done, budget, *(best or (None, None))))

    try:
        yield show
    finally:
        if on_terminal:
            sys.stderr.write("\n")


def _line(progress: Progress) -> None:
    sys.stderr.write(f"\r\x1b[K{progress}")
    sys.stderr.flush()
