"""What is left to gain and to spend, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RemainingGain:
    """How much better than the recommended candidate the best one is; with 95 % probability at most `upper`."""

    expected: float
    upper: float


@dataclass(frozen=True)
class NextBatch:
    """The chance that the next batch holds a better candidate, and the expected gain."""

    chance: float
    gain: float


@dataclass(frozen=True)
class Advice:
    """`do` is "ask", "wait for results" or "stop"; `why` gives the reason."""

    do: str
    why: str


@dataclass(frozen=True)
class Outlook:
    """What further measurements can still bring, by the fitted model (auto mode).

    All but the advice is None until five candidates are measured and results differ.
    """

    remaining_gain: RemainingGain | None
    chance_best_is_measured: float | None
    next_batch: NextBatch | None
    candidates_still_possible: int | None
    advice: Advice


@dataclass(frozen=True)
class Spending:
    """What was spent on measurements, what is committed in pending ones, and what is left of the budget."""

    unit: str
    spent: float
    committed: float
    budget: float | None = None
    left: float | None = None

    def __str__(self) -> str:
        budget = "" if self.budget is None else f" of {self.budget:.6g}"
        left = "" if self.left is None else f", {self.left:.6g} left"
        return f"{self.spent:.6g}{budget} {self.unit}".rstrip() + f", {self.committed:.6g} committed{left}"
