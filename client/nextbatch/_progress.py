"""The progress of `study.run`: on the terminal, or passed to a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

_WIDTH = 30


@dataclass(frozen=True)
class Progress:
    """Measurements made by this call, the budget, and the best value of this call with its candidate."""

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
def progress_shown(progress: bool | Callable[[Progress], None] | None, budget: int) -> Iterator[Show]:
    """A function to call after each suggestion; by default it draws a line on the terminal, if there is one."""
    on_terminal = progress is True or (progress is None and sys.stderr.isatty())
    report = progress if callable(progress) else _draw_line
    silent = not callable(progress) and not on_terminal
    done = 0

    def show(measured: int, best: tuple[float, str] | None) -> None:
        nonlocal done
        done += measured
        if silent:
            return
        value, key = best or (None, None)
        report(Progress(done, budget, value, key))

    try:
        yield show
    finally:
        if on_terminal:
            sys.stderr.write("\n")


def _draw_line(progress: Progress) -> None:
    sys.stderr.write(f"\r\x1b[K{progress}")
    sys.stderr.flush()
