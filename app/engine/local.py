"""The local rule (Lemma 3), and the covariances with one candidate it needs.

    cov_fb(x, j) = (k(x, j) − z(x)ᵀz_j)/λ + z(x)ᵀV⁻¹z_j

Short proof: with u = A^(−1/2)φ/‖A^(−1/2)φ‖ and C = A^(−1/2) BᵀB A^(−1/2) the ratio is 1/(uᵀ(I + C)⁻¹u) ≤ uᵀ(I + C)u
by Cauchy–Schwarz. It is needed for the projected and for the unprojected operator, neither of which dominates the
other: the larger counts.
"""

import numpy as np

from app.engine.arrays import Array, Numbers, blocks
from app.engine.embedding import columns, prior
from app.engine.rules import Rule
from app.engine.shortlist import Pick
from app.engine.stability import Rescues
from app.engine.state import State

NOISE = 1e-12
"""A leverage below this share of k(x, x)/λ is rounding error, and so is a ratio of two of them."""

TOGETHER = 16
"""Rows computed at once when the rule catches up with the candidates chosen before it was needed."""


def covariances(state: State, numbers: Numbers, rescues: Rescues) -> tuple[Array, Array]:
    """cov_fb(x, j) in full and its projected part z(x)ᵀV⁻¹z_j for some j and all x: (b, A) each. One sweep over Z."""
    b, z_j = len(numbers), state.Z[:, numbers]
    stacked = np.concatenate(((state.H.T @ (state.H @ z_j)).T, z_j.T))
    full, projected = np.empty((b, len(state.X))), np.empty((b, len(state.X)))
    for block in blocks(len(state.X)):
        product = stacked @ state.Z[:, block]
        projected[:, block] = product[:b]
        residual = columns(state, numbers, state.X[block], rescues) - product[b:]
        full[:, block] = residual / state.settings.lam + product[:b]
    return full, projected


def reliable(state: State, rescues: Rescues) -> Numbers:
    """Candidates whose leverage is more than rounding error."""
    return np.flatnonzero(state.leverage > NOISE * prior(state, state.X, rescues) / state.settings.lam)


class LocalRule(Rule):
    """max_x 1 + max(Σ_s cov_fb(x, x_s)², Σ_s (zᵀV⁻¹z_s)²) / leverage_fb(x), looked at only when it has to be.

    By Cauchy–Schwarz a candidate s adds at most leverage_fb(x_s) to it. So the bound of the last sweep plus the
    leverages since (at the start: the global rule) decides many steps, and the rows that wait are swept together.
    """

    def __init__(self, state: State, rescues: Rescues) -> None:
        super().__init__(state.settings.threshold)
        self._state, self._rescues = state, rescues
        self._leverage = state.leverage
        self._swept = 1.0
        self._since = 0.0
        self._waiting: list[tuple[int, int]] = []
        self._sums: tuple[Array, Array] | None = None
        self._reliable = reliable(state, rescues)
        self._row: tuple[int, tuple[Array, Array]] | None = None

    def bound_if(self, pick: Pick, n: int) -> float:
        """The cheap bound where it is enough, else the true one."""
        if not self.holds(self._cheap(pick, n)):
            self._catch_up()
        cheap = self._cheap(pick, n)
        if n == 0 or self.holds(cheap):
            return cheap
        return min(cheap, self._bound_with(*self._squares(pick.number), n))

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
        if self._sums is None:
            self._sums = np.zeros(len(self._leverage)), np.zeros(len(self._leverage))
        for start in range(0, len(self._waiting), TOGETHER):
            self._add_rows(self._waiting[start : start + TOGETHER], *self._sums)
        cheap = self._swept + self._since
        self._swept, self._since, self._waiting = min(cheap, self._bound_with(*self._sums, 0)), 0.0, []

    def _bound_with(self, full: Array, projected: Array, n: int) -> float:
        """1 + max_x max(both sums + n more squares) / leverage_fb; n = 0: the sums themselves."""
        x = self._reliable
        sums = np.maximum(full[x], projected[x]) if n == 0 else self._with_more(full, projected, n)
        return 1 + float((sums / self._leverage[x]).max(initial=0.0))

    def _with_more(self, full: Array, projected: Array, n: int) -> Array:
        x = self._reliable
        if self._sums is None:
            return n * np.maximum(full[x], projected[x])
        return np.maximum(self._sums[0][x] + n * full[x], self._sums[1][x] + n * projected[x])

    def _add_rows(self, chosen: list[tuple[int, int]], full: Array, projected: Array) -> None:
        if len(chosen) == 1:
            ((number, n),) = chosen
            full_j, projected_j = self._squares(number)
            full += n * full_j
            projected += n * projected_j
            return
        numbers, repeats = np.array([j for j, _ in chosen]), np.array([float(n) for _, n in chosen])
        rows = covariances(self._state, numbers, self._rescues)
        full += repeats @ np.square(rows[0])
        projected += repeats @ np.square(rows[1])

    def _squares(self, number: int) -> tuple[Array, Array]:
        """cov_fb(x, j)² and its projected part squared, of the candidate asked for last."""
        if self._row is None or self._row[0] != number:
            full, projected = covariances(self._state, np.array([number]), self._rescues)
            self._row = number, (np.square(full[0]), np.square(projected[0]))
        return self._row[1]
