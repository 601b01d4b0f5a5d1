"""What is asked of the engine, and what it answers: the interface every member of the family shares."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from app.engine.arrays import Array, Numbers
from app.engine.state import State

Ended = Literal["rule", "size", "exhausted"]
"""Why a batch ended: its rule, the largest size asked for, or no candidate left that may be chosen."""


@dataclass(frozen=True)
class Ask:
    """One request for a batch; the sizes outrank the rule."""

    number: int = 1
    """Number of the batch in the study: addresses its randomness."""
    min_size: int = 1
    max_size: int = 10_000
    alpha: float | None = None
    """Multiplies √leverage instead of the theory's alpha; c posterior standard deviations are c·√lam."""
    limit: Numbers | None = None
    """(A,) how often each candidate may be chosen in this batch; None: without limit. 1: never twice in one batch."""

    def __post_init__(self) -> None:
        if not 1 <= self.min_size <= self.max_size:
            raise ValueError("1 ≤ min_size ≤ max_size is required")


@dataclass(frozen=True)
class Batch:
    """Candidates to measure, in the order in which they were chosen (a candidate may appear several times)."""

    picks: Numbers
    ended: Ended
    ucb: Array
    """(size,) the value for which each was chosen."""
    ratio_bound: float = 1.0
    """max_x leverage_fb(x) / leverage(x) was at most this when the last candidate was chosen."""
    guaranteed: bool = True
    """Every choice was made with ratio_bound ≤ threshold: the confidence of the theory holds for it."""
    alpha: float = 0.0
    degraded: dict[str, int] = field(default_factory=dict)
    """Numerical rescues that were needed; empty when all went well."""
    spread: int = 0
    """So many of the first were chosen because nothing like them had been measured, whatever their ucb."""

    @property
    def numbers(self) -> Numbers:
        """The distinct candidates, in the order of their first choice."""
        numbers, first = np.unique(self.picks, return_index=True)
        return numbers[np.argsort(first)]

    @property
    def repeats(self) -> Numbers:
        """How often each of `numbers` is to be measured."""
        numbers, first, repeats = np.unique(self.picks, return_index=True, return_counts=True)
        return repeats[np.argsort(first)].astype(np.int64) if len(numbers) else np.zeros(0, dtype=np.int64)


Choose = Callable[[State, Ask], Batch]
"""A member of the family: a pure function of the state and the request."""
