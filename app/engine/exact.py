"""The exact rule (ours): the two true ratios themselves, by rank-one updates, at O(A·(m + b)) per step.

For the distinct candidates B of the batch with multiplicities n, M = (diag(1/n) + C_BB)⁻¹ and C_B(x) = cov_fb(x, B):

    unprojected:  cov_t(x, j) = cov_fb(x, j) − C_B(x)ᵀ M C_B(j)    leverage(x) −= cov_t(x, j)²·n/(1 + n·cov_t(j, j))
    projected:    a = V_t⁻¹z_j                                     leverage(x) −= (aᵀz(x))²·n/(1 + n·aᵀz_j)

Both bounds of the lemmas are at least these ratios, so they are looked at first, and the exact ones only when they do
not suffice.
"""

from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array, blocks
from app.engine.embedding import columns
from app.engine.local import NOISE, LocalRule, reliable
from app.engine.rows import Rows
from app.engine.rules import Rule
from app.engine.shortlist import Pick
from app.engine.stability import Rescues
from app.engine.state import State


@dataclass(frozen=True)
class _Row:
    """cov_t(x, j) for all x, unprojected and projected, and both for x = j."""

    number: int
    version: int
    full: Array
    projected: Array
    own_full: float
    own_projected: float


class ExactRule(Rule):
    """max_x of leverage_fb(x)/leverage_t(x), for the projected and the unprojected leverages."""

    def __init__(self, state: State, rescues: Rescues) -> None:
        super().__init__(state.settings.threshold)
        self._state, self._rescues = state, rescues
        self._local: LocalRule | None = LocalRule(state, rescues)
        self._waiting: list[tuple[int, int]] = []
        self._drift: _Drift | None = None

    def bound_if(self, pick: Pick, n: int) -> float:
        """The local bound where it is enough, else the true ratio."""
        cheap = self._local.bound_if(pick, n) if self._local else np.inf
        if self.holds(cheap):
            return cheap
        return min(cheap, self._caught_up().ratio_if(pick.number, n))

    def add(self, pick: Pick, n: int) -> None:
        """Count it, exactly only when that is needed; a local bound that has failed will never hold again."""
        if self._local:
            self._local.add(pick, n)
            self._local = self._local if self.holds(self._local.bound_if(pick, 0)) else None
        self._waiting.append((pick.number, n))

    def _caught_up(self) -> "_Drift":
        self._drift = self._drift or _Drift(self._state, self._rescues)
        for number, n in self._waiting:
            self._drift.add(number, n)
        self._waiting = []
        return self._drift


class _Drift:
    """The leverages of all candidates as the batch grows, both kinds."""

    def __init__(self, state: State, rescues: Rescues) -> None:
        self._state, self._rescues = state, rescues
        self._leverage = state.leverage
        self._x = reliable(state, rescues)
        self._full, self._projected = self._leverage.copy(), self._leverage.copy()
        self._V_inv: Array = state.H.T @ state.H
        self._B: list[int] = []
        self._repeats = np.zeros(0)
        self._C_B = Rows.empty(len(state.X))
        self._version = 0
        self._row: _Row | None = None

    def ratio_if(self, number: int, n: int) -> float:
        """The larger of the two largest ratios after n more choices of a candidate."""
        row, x = self._covariances(number), self._x
        left = np.minimum(
            self._full[x] - row.full[x] ** 2 * (n / (1 + n * row.own_full)),
            self._projected[x] - row.projected[x] ** 2 * (n / (1 + n * row.own_projected)),
        )
        start = self._leverage[x]
        return float((start / np.maximum(left, NOISE * start)).max(initial=1.0))

    def add(self, number: int, n: int) -> None:
        """A candidate chosen n more times."""
        row = self._covariances(number)
        self._full -= row.full**2 * (n / (1 + n * row.own_full))
        self._projected -= row.projected**2 * (n / (1 + n * row.own_projected))
        a = self._V_inv @ self._state.Z[:, number]
        self._V_inv -= np.outer(a, a) * (n / (1 + n * row.own_projected))
        self._repeats[self._B.index(number)] += n
        self._version += 1

    def _covariances(self, number: int) -> _Row:
        """cov_t(x, j), from one sweep over Z and one over the rows of the batch."""
        if self._row is None or (self._row.number, self._row.version) != (number, self._version):
            projected = self._sweep(number)
            full = self._unprojected(number)
            own = max(0.0, float(full[number])), max(0.0, float(projected[number]))
            self._row = _Row(number, self._version, full, projected, *own)
        return self._row

    def _sweep(self, number: int) -> Array:
        """z(x)ᵀV_t⁻¹z_j; and, for a candidate new to the batch, its row of C_B."""
        state, z_j = self._state, self._state.Z[:, number]
        new = number not in self._B
        stacked = np.array([self._V_inv @ z_j, state.H.T @ (state.H @ z_j), z_j])[: 3 if new else 1]
        rows, C_j = self._C_B.reserve(int(new))
        projected = np.empty(len(state.X))
        for block in blocks(len(state.X)):
            product = stacked @ state.Z[:, block]
            projected[block] = product[0]
            if new:
                k_j = columns(state, np.array([number]), state.X[block], self._rescues)[0]
                C_j[0, block] = (k_j - product[2]) / state.settings.lam + product[1]
        if new:
            self._C_B, self._B, self._repeats = rows, [*self._B, number], np.append(self._repeats, 0.0)
        return projected

    def _unprojected(self, number: int) -> Array:
        """C_j(x) − C_B(x)ᵀ M C_B(j) as one combination of the rows of C_B, those chosen so far counting in M."""
        chosen = np.flatnonzero(self._repeats)
        C_BB = self._C_B.array[:, self._B]
        weights = np.zeros(len(self._B))
        M_inv = C_BB[np.ix_(chosen, chosen)] + np.diag(1 / self._repeats[chosen])
        weights[chosen] = -np.linalg.solve(M_inv, C_BB[chosen, self._B.index(number)]) if len(chosen) else 0.0
        weights[self._B.index(number)] += 1.0
        combined: Array = weights @ self._C_B.array
        return combined
