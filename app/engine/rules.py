"""When a batch must end: each rule bounds max_x leverage_fb(x) / leverage_t(x), the drift of the confidence bounds.

A batch goes on while the bound, the candidate just chosen included, is at most the threshold C̃. Pending candidates of
other open batches are its first members.
"""

from abc import ABC, abstractmethod

import numpy as np

from app.engine.shortlist import Pick
from app.engine.state import State

ROUNDING = 1e-9
"""A bound may exceed the threshold by this share: 1 + 1/2 + 1/2 ≤ 2 holds however it is summed."""


class Rule(ABC):
    """A bound that grows with every candidate chosen."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold * (1 + ROUNDING)

    @abstractmethod
    def bound_if(self, pick: Pick, n: int) -> float:
        """The bound after `pick` has been chosen n more times."""

    @abstractmethod
    def add(self, pick: Pick, n: int) -> None:
        """Count `pick` n more times."""

    def holds(self, bound: float) -> bool:
        """Whether the confidence of the theory covers a choice made under this bound."""
        return bound <= self._threshold

    def room(self, pick: Pick, most: int) -> int:
        """How many more choices of `pick`, up to `most`, the rule allows; the bound only grows: bisection."""
        fits, limit = 0, 1
        while limit <= most and self.holds(self.bound_if(pick, limit)):
            fits, limit = limit, 2 * limit
        limit = min(limit, most + 1)
        while limit - fits > 1:
            middle = (fits + limit) // 2
            fits, limit = (middle, limit) if self.holds(self.bound_if(pick, middle)) else (fits, middle)
        return fits


class GlobalRule(Rule):
    """Lemma 1: 1 + Σ_s leverage_fb(x_s)."""

    def __init__(self, state: State) -> None:
        super().__init__(state.settings.threshold)
        self._state = state
        self._sum = 0.0

    def bound_if(self, pick: Pick, n: int) -> float:
        """1 + Σ + n·leverage_fb(x)."""
        return 1 + self._sum + n * self._leverage_fb(pick.number)

    def add(self, pick: Pick, n: int) -> None:
        """One more term of the sum, n times."""
        self._sum += n * self._leverage_fb(pick.number)

    def _leverage_fb(self, number: int) -> float:
        state = self._state
        return float(state.residual[number] / state.settings.lam + state.spread[number])


class ProductRule(Rule):
    """GP-BUCB, GP-AUCB (Proposition 1): Π_s (1 + leverage_{s−1}(x_s))."""

    def __init__(self, state: State) -> None:
        super().__init__(state.settings.threshold)
        self._log_product = 0.0

    def bound_if(self, pick: Pick, n: int) -> float:
        """The product with n more factors; each is at most the one before it."""
        return float(np.exp(min(self._log_product + self._log_factors(pick, n), 700.0)))

    def add(self, pick: Pick, n: int) -> None:
        """n more factors."""
        self._log_product += self._log_factors(pick, n)

    def _log_factors(self, pick: Pick, n: int) -> float:
        return float(np.log1p(pick.leverages(n)).sum())


class SequentialRule(GlobalRule):
    """GP-UCB, BKB: batches of one."""

    def room(self, pick: Pick, most: int) -> int:  # noqa: ARG002
        """None: the first candidate is the last."""
        return 0
