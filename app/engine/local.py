"""The local rule (Lemma 3), and the covariances with one candidate it needs.

    cov_fb(x, j) = (k(x, j) − z(x)ᵀz_j)/λ + z(x)ᵀV⁻¹z_j

Short proof: with u = A^(−1/2)φ/‖A^(−1/2)φ‖ and C = A^(−1/2) BᵀB A^(−1/2) the ratio is 1/(uᵀ(I + C)⁻¹u) ≤ uᵀ(I + C)u
by Cauchy–Schwarz. It is needed for the projected and for the unprojected operator, neither of which dominates the
other: the larger counts.
"""

import numpy as np

from app.engine.arrays import Array, Numbers, blocks
from app.engine.embedding import columns, prior
from app.engine.rules import GlobalRule, Rule
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
    """The global rule while it holds, then max_x 1 + max(Σ_s cov_fb(x, x_s)², Σ_s (zᵀV⁻¹z_s)²) / leverage_fb(x)."""

    def __init__(self, state: State, rescues: Rescues) -> None:
        super().__init__(state.settings.threshold)
        self._state, self._rescues = state, rescues
        self._global = GlobalRule(state)
        self._waiting: list[tuple[int, int]] = []
        self._sums: tuple[Array, Array] | None = None
        self._reliable = np.zeros(0, dtype=np.int64)
        self._row: tuple[int, tuple[Array, Array]] | None = None

    def bound_if(self, pick: Pick, n: int) -> float:
        """The global bound where it is enough, else the smaller of the two."""
        cheap = self._global.bound_if(pick, n)
        if self.holds(cheap):
            return cheap
        full, projected = self._caught_up()
        full_j, projected_j = self._squares(pick.number)
        x = self._reliable
        sums = np.maximum(full[x] + n * full_j[x], projected[x] + n * projected_j[x])
        return min(cheap, 1 + float((sums / self._leverage[x]).max(initial=0.0)))

    def add(self, pick: Pick, n: int) -> None:
        """Count it in both bounds, in the local one only when that is needed."""
        self._global.add(pick, n)
        self._waiting.append((pick.number, n))

    def _caught_up(self) -> tuple[Array, Array]:
        """The two sums of squares, candidates that still wait included."""
        state = self._state
        if self._sums is None:
            self._sums = np.zeros(len(state.X)), np.zeros(len(state.X))
            self._leverage, self._reliable = state.leverage, reliable(state, self._rescues)
        for start in range(0, len(self._waiting), TOGETHER):
            self._add_rows(self._waiting[start : start + TOGETHER])
        self._waiting = []
        return self._sums

    def _add_rows(self, chosen: list[tuple[int, int]]) -> None:
        full, projected = self._sums or self._caught_up()
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
