"""Backtests: simulated studies on known results, and the forecast that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Needed:
    """Measurements until good enough; None: more than were simulated. Four of five studies: `low` to `high`."""

    low: int | None
    median: int | None
    high: int | None
    reached: float


@dataclass(frozen=True)
class CurvePoint:
    measurements: int
    low: float
    median: float
    high: float


@dataclass(frozen=True)
class SimulatedChoice:
    """What the study's own choices with one batch size, or random choices, achieved."""

    choice: str
    needed: Needed
    curve: tuple[CurvePoint, ...]
    words: str
    batch_size: int | None = None


@dataclass(frozen=True)
class BacktestResult:
    candidates: int
    best: float
    within: float
    choices: tuple[SimulatedChoice, ...]

    def __str__(self) -> str:
        return "\n".join(choice.words for choice in self.choices)


@dataclass(frozen=True)
class Backtest:
    """A backtest as it was when it was last read; `result` is there once `state` is finished."""

    number: int
    state: str
    seeds: int
    batch_sizes: tuple[int, ...]
    measurements: int
    within: float
    configuration: Mapping[str, Any]
    done: int
    total: int
    created_at: str
    updated_at: str
    seq: int | None = None  # the last event that it knows; None for the backtest of a list
    expires_at: str | None = None  # of a list
    result: BacktestResult | None = None
    problem: str | None = None

    @property
    def is_done(self) -> bool:
        return self.state not in ("waiting", "running")

    def __str__(self) -> str:
        if self.result is not None:
            return str(self.result)
        return f"Backtest {self.number} is {self.state}: {self.done} of {self.total} studies simulated."

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in str(self).splitlines())
