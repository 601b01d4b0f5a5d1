"""When a batch must end: each rule bounds max_x leverage_fb(x) / leverage_t(x), the drift of the confidence bounds.

A batch goes on while the bound, including the candidate just chosen, is at most the threshold C̃. The pending
candidates of other open batches count as its first picks.

Lemma 3 (the local rule), a short proof: with u = A^(−1/2)φ/‖A^(−1/2)φ‖ and C = A^(−1/2) BᵀB A^(−1/2) the ratio is
1/(uᵀ(I + C)⁻¹u) ≤ uᵀ(I + C)u by Cauchy–Schwarz. It is needed for the projected and for the unprojected operator.
Neither dominates the other, so the larger one counts.
"""

from abc import ABC, abstractmethod

import numpy as np

from app.engine.drift import Forecast, SquareSums, TrueRatios, no_forecast
from app.engine.shortlist import Pick
from app.engine.stability import Rescues
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

    def remaining(self, pick: Pick, most: int) -> int:
        """How many more choices of `pick`, up to `most`, the rule allows: bisection, because the bound only grows."""
        allowed, refused = 0, 1
        while refused <= most and self.holds(self.bound_if(pick, refused)):
            allowed, refused = refused, 2 * refused
        refused = min(refused, most + 1)
        while refused - allowed > 1:
            middle = (allowed + refused) // 2
            if self.holds(self.bound_if(pick, middle)):
                allowed = middle
            else:
                refused = middle
        return allowed


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
        """n more terms of the sum."""
        self._sum += n * self._leverage_fb(pick.number)

    def _leverage_fb(self, number: int) -> float:
        state = self._state
        return float(state.residual[number] / state.settings.lam + state.projected_leverage[number])


class SequentialRule(GlobalRule):
    """GP-UCB, BKB: batches of one."""

    def remaining(self, pick: Pick, most: int) -> int:  # noqa: ARG002
        """None: the first candidate is the last."""
        return 0


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


class LazyRule(Rule):
    """A rule whose sharp bound needs all candidates, so that it is computed only where a cheap bound fails.

    The cheap bound grows from the last sharp one with the leverages of the candidates chosen since. Those wait, and are
    taken in together.
    """

    def __init__(self, state: State, drift: SquareSums | TrueRatios) -> None:
        super().__init__(state.settings.threshold)
        self._drift = drift
        self._sharp = 1.0
        self._since = 0.0
        self._waiting: list[tuple[int, int]] = []

    @abstractmethod
    def _cheap(self, more: float) -> float:
        """The bound after further choices whose leverages add up to `more`, without looking at all candidates."""

    def bound_if(self, pick: Pick, n: int) -> float:
        """The cheap bound where it is enough, else the sharp one."""
        if not self.holds(self._cheap_if(pick, n)):
            self._catch_up()
        cheap = self._cheap_if(pick, n)
        if n == 0 or self.holds(cheap):
            return cheap
        return min(cheap, self._drift.bound_if(pick.number, n))

    def add(self, pick: Pick, n: int) -> None:
        """Let it wait until the sharp bound is needed."""
        self._waiting.append((pick.number, n))
        self._since += n * self._drift.leverage(pick.number)

    def _cheap_if(self, pick: Pick, n: int) -> float:
        return self._cheap(n * self._drift.leverage(pick.number))

    def _catch_up(self) -> None:
        """Take in what waits."""
        if self._waiting:
            cheap = self._cheap(0.0)
            self._sharp = min(cheap, self._drift.add(self._waiting))
            self._since, self._waiting = 0.0, []


class LocalRule(LazyRule):
    """Lemma 3: max_x 1 + max(Σ_s cov_fb(x, x_s)², Σ_s (zᵀV⁻¹z_s)²) / leverage_fb(x).

    By Cauchy–Schwarz a candidate s adds at most leverage_fb(x_s) to it; at the start this is the global rule.
    """

    def __init__(self, state: State, rescues: Rescues, forecast: Forecast = no_forecast) -> None:
        super().__init__(state, SquareSums(state, forecast, rescues))

    def _cheap(self, more: float) -> float:
        return self._sharp + self._since + more


class ExactRule(LazyRule):
    """Ours: the two true ratios themselves.

    Lemma 1 holds from any step on: a ratio known exactly grows at most by the factor 1 + Σ_s leverage(x_s) over the
    choices s since.
    """

    def __init__(self, state: State, rescues: Rescues, forecast: Forecast = no_forecast) -> None:
        super().__init__(state, TrueRatios(state, forecast, rescues))

    def _cheap(self, more: float) -> float:
        return self._sharp * (1 + self._since + more)


def rule_of(state: State, rescues: Rescues, forecast: Forecast = no_forecast) -> Rule:
    """The rule named in the settings, at the start of a batch."""
    match state.settings.rule:
        case "global":
            return GlobalRule(state)
        case "local":
            return LocalRule(state, rescues, forecast)
        case "exact":
            return ExactRule(state, rescues, forecast)
        case "product":
            return ProductRule(state)
        case "sequential":
            return SequentialRule(state)
