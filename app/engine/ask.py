"""What is asked of the engine and what it answers: the interface that every algorithm shares."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.state import State

NO_CANDIDATES: IndexArray = np.zeros(0, dtype=np.int64)

NO_LIMIT = 2**62
"""More often than any candidate is ever chosen."""

MOST_KEPT = 32
"""Posteriors that a memory keeps: of each quantity, and of a focus beside the whole list."""

Ended = Literal["rule", "size", "exhausted", "promise"]
"""Why a batch ended: its rule, the largest size asked for, no candidate left that may be chosen, or (auto mode) the
next one promises too little."""

T = TypeVar("T")


class Memory:
    """What one part of a batch leaves for the next, so that nothing is computed twice. It changes no choice."""

    def __init__(self) -> None:
        self._kept: list[tuple[tuple[object, ...], Any]] = []

    def recall(self, owners: tuple[object, ...], make: Callable[[], T], fits: Callable[[T], bool]) -> T:
        """What was kept for these very objects, if it still fits; else what `make` makes, which is kept from now on."""
        for position, (known, kept) in enumerate(self._kept):
            if len(known) == len(owners) and all(mine is theirs for mine, theirs in zip(known, owners, strict=True)):
                if fits(kept):
                    return kept  # type: ignore[no-any-return]
                del self._kept[position]
                break
        made = make()
        self._kept = [*self._kept[-MOST_KEPT + 1 :], (owners, made)]
        return made


@dataclass(frozen=True)
class Ask:
    """One request for a batch; the sizes take precedence over the rule."""

    batch_number: int = 1
    """Number of the batch in the study: addresses its randomness."""
    min_size: int = 1
    max_size: int = 10_000
    alpha: float | None = None
    """Multiplies √leverage instead of the theory's alpha; c posterior standard deviations are c·√lam."""
    limit: IndexArray | None = None
    """(A,) how often each candidate may be chosen in this batch (1: never twice); None: no limit."""
    chosen_before: int = 0
    """How many the batch has already, if it is chosen in parts: addresses the randomness of this part."""
    effort: FloatArray | None = None
    """(A,) what each choice takes, positive: then the gain per effort decides, in `choose_for`."""
    memory: Memory | None = None
    """What the earlier parts of the batch left, if it is chosen one candidate at a time."""

    def __post_init__(self) -> None:
        if not 1 <= self.min_size <= self.max_size:
            raise ValueError("1 ≤ min_size ≤ max_size is required")


@dataclass(frozen=True)
class Selection:
    """The answer: candidates to measure, in the order in which they were chosen (some perhaps several times)."""

    picks: IndexArray
    ended: Ended
    ucb: FloatArray
    """(size,) the value for which each was chosen."""
    ratio_bound: float = math.inf
    """max_x leverage_fb(x)/leverage(x) was at most this when the last candidate was chosen; inf: nothing bounds it."""
    guaranteed: bool = False
    """With probability 1 − delta, f ≤ mean + alpha·√leverage held for all candidates whenever one was chosen: beta is
    proven for the dictionary, alpha is at least the theory's, and ratio_bound ≤ threshold."""
    alpha: float = 0.0
    degraded: dict[str, int] = field(default_factory=dict)
    """Numerical rescues that were needed; empty if there were none."""
    space_filling: int = 0
    """After repeats, this many picks were chosen because nothing similar had been measured, whatever their ucb."""
    requested: int = 0
    """This many of the first picks, before any repeats, were requested."""
    noise_probes: int = 0
    """This many of the first picks are measured again to learn how noisy measurements are."""
    remeasured: int = 0
    """This many of the first picks are measured again because that promises more than anything new."""
    promising: tuple[int, ...] = ()
    """These candidates of a first batch were chosen because something is known of them."""
    is_largest: bool = True
    """Whether no larger batch would have met the terms of the request."""

    @property
    def numbers(self) -> IndexArray:
        """The distinct candidates, in the order of their first choice."""
        numbers, first = np.unique(self.picks, return_index=True)
        return numbers[np.argsort(first)]

    @property
    def repeats(self) -> IndexArray:
        """How often each of `numbers` is to be measured."""
        _, first, repeats = np.unique(self.picks, return_index=True, return_counts=True)
        return repeats[np.argsort(first)].astype(np.int64)


Choose = Callable[[State, Ask], Selection]
"""How an algorithm chooses: a pure function of the state and the request."""
