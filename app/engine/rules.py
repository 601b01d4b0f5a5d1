"""When a batch must end: each rule bounds max_x leverage_fb(x) / leverage_t(x), the drift of the confidence bounds.

A batch goes on while the bound, including the candidate just chosen, is at most the threshold C̃. The pending
candidates of other open batches count as its first picks.

Lemma 3 (the local rule), a short proof: with u = A^(−1/2)φ/‖A^(−1/2)φ‖ and C = A^(−1/2) BᵀB A^(−1/2) the ratio is
1/(uᵀ(I + C)⁻¹u) ≤ uᵀ(I + C)u by Cauchy–Schwarz. It is needed for the projected and for the unprojected operator.
Neither dominates the other, so the larger one counts.
"""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from app.arrays import IndexArray
from app.engine.drift import Forecast, SquareSums, TrueRatios, no_forecast
from app.engine.shortlist import Pick
from app.engine.spectrum import BatchSpectrum
from app.engine.stability import Rescues
from app.engine.state import State

ROUNDING = 1e-9
"""A bound may exceed the threshold by this share: 1 + 1/2 + 1/2 ≤ 2 holds however it is summed."""

ROOM = 0.25
"""Whether a bound holds is first looked at for this share of what is left until the threshold."""


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

    def count(self, numbers: IndexArray, repeats: IndexArray) -> bool:
        """Count candidates by their numbers; whether one of them breaks the rule."""
        broken = False
        for number, n in zip(numbers.tolist(), repeats.tolist(), strict=True):
            pick = Pick(number, 0.0, 0.0, 0.0)
            broken |= self.remaining(pick, n) < n
            self.add(pick, n)
        return broken

    def holds(self, bound: float) -> bool:
        """Whether the confidence of the theory covers a choice made under this bound."""
        return bound <= self._threshold

    def allows(self, pick: Pick, n: int) -> bool:
        """Whether the bound holds after `pick` has been chosen n more times."""
        return self.holds(self.bound_if(pick, n))

    def known_bound(self, pick: Pick, n: int) -> float:
        """A bound after n more choices of `pick`: any that holds if one does, as cheap as it may be."""
        return self.bound_if(pick, n)

    def remaining(self, pick: Pick, most: int) -> int:
        """How many more choices of `pick`, up to `most`, the rule allows: bisection, because the bound only grows."""
        allowed, refused = 0, 1
        while refused <= most and self.allows(pick, refused):
            allowed, refused = refused, 2 * refused
        refused = min(refused, most + 1)
        while refused - allowed > 1:
            middle = (allowed + refused) // 2
            if self.allows(pick, middle):
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

    def count(self, numbers: IndexArray, repeats: IndexArray) -> bool:
        """The same as one after the other, with the leverages of all at once."""
        state, broken = self._state, False
        leverages = state.residual[numbers] / state.settings.lam + state.projected_leverage[numbers]
        for more in (repeats * leverages).tolist():
            broken |= not self.holds(1 + self._sum + more)
            self._sum += more
        return broken

    def _leverage_fb(self, number: int) -> float:
        state = self._state
        return float(state.residual[number] / state.settings.lam + state.projected_leverage[number])


class SequentialRule(GlobalRule):
    """GP-UCB, BKB: batches of one."""

    def count(self, numbers: IndexArray, repeats: IndexArray) -> bool:
        """Whatever is pending is the last candidate already."""
        super().count(numbers, repeats)
        return len(numbers) > 0

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
    """A rule whose sharp bound needs all candidates, so that it is computed only where cheaper bounds do not decide.

    The cheap bound grows from the last sharp one with the leverages of the candidates chosen since. Those wait, and are
    taken in together. Between the two is the batch's spectrum, which brackets the sharp bound and looks at no other
    candidate. `whole` is the state of all candidates if `state` is that of its focus.
    """

    def __init__(
        self, state: State, rescues: Rescues, forecast: Forecast = no_forecast, whole: State | None = None
    ) -> None:
        super().__init__(state.settings.threshold)
        self._state, self._rescues, self._forecast, self._whole = state, rescues, forecast, whole
        self._numbers = None if whole is None or whole.focus is None else whole.focus.numbers
        self._spectrum = BatchSpectrum(state, rescues)
        self._sharp = 1.0
        self._since = 0.0
        self._waiting: list[tuple[int, int]] = []
        self._unlisted: list[tuple[int, int]] = []
        self._looked_at: tuple[int, int, float] | None = None

    @cached_property
    def _drift(self) -> SquareSums | TrueRatios:
        """What the choices do to all candidates."""
        state = self._state if self._whole is None else self._whole.whole
        return self._drift_of(state, self._forecast_in_whole, self._rescues)

    def _forecast_in_whole(self, n: int) -> IndexArray:
        likely = self._forecast(n)
        return likely if self._numbers is None else self._numbers[likely]

    @abstractmethod
    def _drift_of(self, state: State, forecast: Forecast, rescues: Rescues) -> SquareSums | TrueRatios:
        """What sharp bounds come from."""

    @abstractmethod
    def _cheap(self, more: float) -> float:
        """The bound after further choices whose leverages add up to `more`, without looking at all candidates."""

    @abstractmethod
    def _least_if(self, number: int, n: int) -> float:
        """The sharp bound at the batch's own candidates if one were chosen n more times."""

    def bound_if(self, pick: Pick, n: int) -> float:
        """The cheap bound where it is enough, else the sharp one."""
        if not self.holds(self._cheap_if(pick, n)):
            self._catch_up()
        cheap = self._cheap_if(pick, n)
        if n == 0 or self.holds(cheap):
            return cheap
        return min(cheap, self._drift.bound_if(self._number(pick.number), n))

    def allows(self, pick: Pick, n: int) -> bool:
        """Decided by the cheap bound or by the spectrum, if they can, else by the sharp bound."""
        if self.holds(self._cheap_if(pick, n)):
            return True
        if not self._catch_up_spectrum():
            return super().allows(pick, n)
        if self.holds(self._spectrum.bordered_if(pick.number, n)) or self._spectrum_holds(pick.number, n):
            return True
        return self.holds(self._least_if(pick.number, n)) and super().allows(pick, n)

    def known_bound(self, pick: Pick, n: int) -> float:
        """The smallest bound at hand if it holds, else the sharp one."""
        known = self._cheap_if(pick, n)
        if self._catch_up_spectrum():
            known = min(known, self._spectrum.bordered_if(pick.number, n))
            known = known if self.holds(known) else self._spectrum.highest_if(pick.number, n)
        return known if self.holds(known) else self.bound_if(pick, n)

    def add(self, pick: Pick, n: int) -> None:
        """Let it wait until a bound is needed that is more than a sum of leverages."""
        self._waiting.append((pick.number, n))
        self._unlisted.append((pick.number, n))
        self._since += n * self._leverage(pick.number)
        if self._looked_at is not None and self._looked_at[:2] == (pick.number, n) and self._catch_up_spectrum():
            self._spectrum.know(self._looked_at[2])
        self._looked_at = None

    def _number(self, number: int) -> int:
        """The number that a candidate has among all of them."""
        return number if self._numbers is None else int(self._numbers[number])

    def _leverage(self, number: int) -> float:
        """The leverage of a candidate as the choices that were taken in leave it."""
        if "_drift" in self.__dict__:
            return self._drift.leverage(self._number(number))
        state = self._state
        return float(state.residual[number] / state.settings.lam + state.projected_leverage[number])

    def _cheap_if(self, pick: Pick, n: int) -> float:
        return self._cheap(n * self._leverage(pick.number))

    def _spectrum_holds(self, number: int, n: int) -> bool:
        """Whether the spectrum's bound holds if a candidate were chosen n more times: one that leaves room, if it can.

        The next candidates are then mostly decided by what they add to it.
        """
        known = min(self._spectrum.highest, self._threshold)
        for share in (ROOM, 1.0):
            highest = known + share * (self._threshold - known)
            if self._spectrum.is_at_most_if(number, n, highest):
                self._looked_at = number, n, highest
                return True
        return False

    def _catch_up_spectrum(self) -> bool:
        """Whether the spectrum holds all choices so far, and there is room for one more."""
        while self._unlisted and not self._spectrum.is_full:
            self._spectrum.add(*self._unlisted.pop(0))
        return not self._unlisted and not self._spectrum.is_full

    def _catch_up(self) -> None:
        """Take in what waits."""
        if self._waiting:
            cheap = self._cheap(0.0)
            waiting = [(self._number(number), n) for number, n in self._waiting]
            self._sharp = min(cheap, self._drift.add(waiting))
            self._since, self._waiting = 0.0, []


class LocalRule(LazyRule):
    """Lemma 3: max_x 1 + max(Σ_s cov_fb(x, x_s)², Σ_s (zᵀV⁻¹z_s)²) / leverage_fb(x).

    By Cauchy–Schwarz a candidate s adds at most leverage_fb(x_s) to it; at the start this is the global rule.
    """

    def _drift_of(self, state: State, forecast: Forecast, rescues: Rescues) -> SquareSums:
        return SquareSums(state, forecast, rescues)

    def _cheap(self, more: float) -> float:
        return self._sharp + self._since + more

    def _least_if(self, number: int, n: int) -> float:
        return self._spectrum.lemma_3_if(number, n)


class ExactRule(LazyRule):
    """Ours: the two true ratios themselves.

    Lemma 1 holds from any step on: a ratio known exactly grows at most by the factor 1 + Σ_s leverage(x_s) over the
    choices s since.
    """

    def _drift_of(self, state: State, forecast: Forecast, rescues: Rescues) -> TrueRatios:
        return TrueRatios(state, forecast, rescues)

    def _cheap(self, more: float) -> float:
        return self._sharp * (1 + self._since + more)

    def _least_if(self, number: int, n: int) -> float:
        return self._spectrum.ratio_if(number, n)


def counts_by_number(state: State) -> bool:
    """Whether a candidate counts the same for the rule of this state, whenever it is chosen."""
    return state.settings.rule != "product"


def rule_of(state: State, rescues: Rescues, forecast: Forecast = no_forecast, whole: State | None = None) -> Rule:
    """The rule named in the settings, at the start of a batch; `whole` if `state` is that of its focus."""
    match state.settings.rule:
        case "global":
            return GlobalRule(state)
        case "local":
            return LocalRule(state, rescues, forecast, whole)
        case "exact":
            return ExactRule(state, rescues, forecast, whole)
        case "product":
            return ProductRule(state)
        case "sequential":
            return SequentialRule(state)
