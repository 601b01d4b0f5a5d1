"""The local rule (Lemma 3).

Short proof: with u = A^(−1/2)φ/‖A^(−1/2)φ‖ and C = A^(−1/2) BᵀB A^(−1/2) the ratio is 1/(uᵀ(I + C)⁻¹u) ≤ uᵀ(I + C)u
by Cauchy–Schwarz. It is needed for the projected and for the unprojected operator, neither of which dominates the
other: the larger counts.
"""

import numpy as np

from app.engine.arrays import Array, Flags, Numbers
from app.engine.covariances import NONE, Ahead, Likely, nobody
from app.engine.embedding import prior
from app.engine.rules import Rule
from app.engine.shortlist import Pick
from app.engine.stability import Rescues
from app.engine.state import State

NOISE = 1e-12
"""A leverage below this share of k(x, x)/λ is rounding error, and so is a ratio of two of them."""


def reliable(state: State, leverage: Array, rescues: Rescues) -> Flags:
    """(A,) candidates whose leverage is more than rounding error."""
    more: Flags = leverage > NOISE * prior(state, state.X, rescues) / state.settings.lam
    return more


class LocalRule(Rule):
    """max_x 1 + max(Σ_s cov_fb(x, x_s)², Σ_s (zᵀV⁻¹z_s)²) / leverage_fb(x), looked at only when it has to be.

    By Cauchy–Schwarz a candidate s adds at most leverage_fb(x_s) to it. So the bound of the last sweep plus the
    leverages since (at the start: the global rule) decides many steps, and the rows that wait are swept together.
    """

    def __init__(self, state: State, rescues: Rescues, likely: Likely = nobody) -> None:
        super().__init__(state.settings.threshold)
        self._state, self._rescues = state, rescues
        self._leverage = state.leverage
        self._divisor = np.where(reliable(state, self._leverage, rescues), self._leverage, np.inf)
        self._swept = 1.0
        self._since = 0.0
        self._waiting: list[tuple[int, int]] = []
        self._sums: tuple[Array, Array] | None = None
        self._ahead = Ahead(state, likely, rescues)

    def bound_if(self, pick: Pick, n: int) -> float:
        """The cheap bound where it is enough, else the true one."""
        if not self.holds(self._cheap(pick, n)):
            self._catch_up()
        cheap = self._cheap(pick, n)
        if n == 0 or self.holds(cheap):
            return cheap
        return min(cheap, self._bound_with(*self._with_more(pick.number, n)))

    def add(self, pick: Pick, n: int) -> None:
        """Let it wait for the next sweep."""
        self._waiting.append((pick.number, n))
        self._since += n * float(self._leverage[pick.number])

    def _cheap(self, pick: Pick, n: int) -> float:
        return self._swept + self._since + n * float(self._leverage[pick.number])

    def _catch_up(self) -> None:
        """Sweep the candidates that wait into the two sums of squares."""
        if not self._waiting:
            return
        numbers = np.array([number for number, _ in self._waiting], dtype=np.int64)
        for i, (number, n) in enumerate(self._waiting):
            self._sums = self._with_more(number, n, numbers[i + 1 :])
        cheap = self._swept + self._since
        self._swept, self._since, self._waiting = min(cheap, self._bound_with(*self._sums or ())), 0.0, []

    def _bound_with(self, full: Array, projected: Array) -> float:
        """1 + max_x max(both sums) / leverage_fb."""
        return 1 + float((np.maximum(full, projected) / self._divisor).max(initial=0.0))

    def _with_more(self, number: int, n: int, later: Numbers = NONE) -> tuple[Array, Array]:
        """Both sums with n more squares of one candidate."""
        full, projected = self._ahead.squares(number, later)
        if self._sums is None:
            return n * full, n * projected
        return self._sums[0] + n * full, self._sums[1] + n * projected
