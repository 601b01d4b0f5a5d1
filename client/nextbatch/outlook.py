"""What a study can still gain, as the server answers it."""

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
    """What further measurements can still bring, by the fitted model (auto mode)."""

    remaining_gain: RemainingGain
    chance_best_is_measured: float
    next_batch: NextBatch
    candidates_still_possible: int
    advice: Advice
