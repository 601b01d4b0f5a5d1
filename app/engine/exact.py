"""The exact rule (ours): the two true ratios themselves, by rank-one updates, at O(A·(m + b)) per step.

For the distinct candidates B of the batch with multiplicities n, M = (diag(1/n) + C_BB)⁻¹ and C_B(x) = cov_fb(x, B):

    unprojected:  cov_t(x, j) = cov_fb(x, j) − C_B(x)ᵀ M C_B(j)    leverage(x) −= cov_t(x, j)²·n/(1 + n·cov_t(j, j))
    projected:    a = V_t⁻¹z_j                                     leverage(x) −= (aᵀz(x))²·n/(1 + n·aᵀz_j)

Lemma 1 holds from any step on: a ratio known exactly grows at most by 1 + Σ_s leverage(x_s) over the choices s since.
Only when that does not suffice is the ratio computed again.
"""

import numpy as np
from scipy.linalg import blas

from app.engine.arrays import Array, Numbers
from app.engine.covariances import NONE, Likely, covariances, nobody, together
from app.engine.local import NOISE, reliable
from app.engine.rows import Rows
from app.engine.rules import Rule
from app.engine.shortlist import Pick
from app.engine.stability import Rescues
from app.engine.state import State


class ExactRule(Rule):
    """max_x of leverage_fb(x)/leverage_t(x), for the projected and the unprojected leverages."""

    def __init__(self, state: State, rescues: Rescues, likely: Likely = nobody) -> None:
        super().__init__(state.settings.threshold)
        self._drift = _Drift(state, likely, rescues)
        self._ratio = 1.0
        self._since = 0.0
        self._waiting: list[tuple[int, int]] = []

    def bound_if(self, pick: Pick, n: int) -> float:
        """Lemma 1 from the last exact ratio on where that is enough, else the true ratio."""
        if not self.holds(self._cheap(pick, n)):
            self._catch_up()
        cheap = self._cheap(pick, n)
        if n == 0 or self.holds(cheap):
            return cheap
        return min(cheap, self._drift.ratio_if(pick.number, n))

    def add(self, pick: Pick, n: int) -> None:
        """Let it wait until the ratio is needed."""
        self._waiting.append((pick.number, n))
        self._since += n * self._drift.leverage(pick.number)

    def _cheap(self, pick: Pick, n: int) -> float:
        return self._ratio * (1 + self._since + n * self._drift.leverage(pick.number))

    def _catch_up(self) -> None:
        cheap = self._ratio * (1 + self._since)
        if self._waiting:
            self._drift.add_all(self._waiting)
            self._ratio, self._since, self._waiting = min(cheap, self._drift.ratio), 0.0, []


class _Drift:
    """The leverages of all candidates as the batch grows, both kinds, and cov_t of those likely to be chosen next."""

    def __init__(self, state: State, likely: Likely, rescues: Rescues) -> None:
        self._state, self._likely, self._rescues = state, likely, rescues
        self._leverage = state.leverage
        trusted = reliable(state, self._leverage, rescues)
        self._least = np.where(trusted, NOISE * self._leverage, np.inf)
        self._full, self._projected = self._leverage.copy(), self._leverage.copy()
        self._V_inv: Array = state.H.T @ state.H
        self._B: list[int] = []
        self._repeats = np.zeros(0)
        self._C_B = Rows.empty(len(state.X))
        self._next: list[int] = []
        self._C_next, self._cov_full, self._cov_projected = (np.zeros((0, len(state.X))) for _ in range(3))

    @property
    def ratio(self) -> float:
        """The larger of the two largest ratios."""
        return self._largest(self._full, self._projected)

    def ratio_if(self, number: int, n: int) -> float:
        """The same after n more choices of a candidate."""
        return self._largest(*self._leverages_if(self._place(number), n))

    def leverage(self, number: int) -> float:
        """The larger of the two leverages of a candidate."""
        return float(max(self._full[number], self._projected[number]))

    def add_all(self, chosen: list[tuple[int, int]]) -> None:
        """Candidates chosen, each n times."""
        numbers = np.array([number for number, _ in chosen], dtype=np.int64)
        for i, (number, n) in enumerate(chosen):
            self._add(self._place(number, numbers[i + 1 :]), n)

    def _add(self, place: int, n: int) -> None:
        number = self._next[place]
        self._full, self._projected = self._leverages_if(place, n)
        self._remember(number, n, self._C_next[place])
        a, own = self._V_inv @ self._state.Z[:, number], _own(self._cov_projected, place, number)
        if len(a):
            blas.dger(-n / (1 + n * own), a, a, a=self._V_inv.T, overwrite_a=1)
        for rows in (self._cov_full, self._cov_projected):
            _absorb(rows, place, number, n)

    def _largest(self, full: Array, projected: Array) -> float:
        left = np.minimum(full, projected)
        return float((self._leverage / np.maximum(left, self._least)).max(initial=1.0))

    def _leverages_if(self, place: int, n: int) -> tuple[Array, Array]:
        """Both kinds after n more choices of the candidate at a place."""
        full, projected = (
            rows[place] ** 2 * (n / (1 + n * _own(rows, place, self._next[place])))
            for rows in (self._cov_full, self._cov_projected)
        )
        return self._full - full, self._projected - projected

    def _place(self, number: int, later: Numbers = NONE) -> int:
        """Where its covariances are; fetched, with those of its successors, when they are not there."""
        if number not in self._next:
            self._fetch(together(number, later, self._likely, len(self._state.X)))
        return self._next.index(number)

    def _fetch(self, numbers: Numbers) -> None:
        """From one sweep over Z and one over the rows of the batch."""
        self._next = numbers.tolist()
        self._C_next, self._cov_projected = covariances(self._state, numbers, self._rescues, self._V_inv)
        self._cov_full = self._C_next - self._weights(numbers) @ self._C_B.array

    def _weights(self, numbers: Numbers) -> Array:
        """C_B(j)ᵀ M, (|j|, |B|)."""
        C_B = self._C_B.array
        weights = np.linalg.solve(C_B[:, self._B] + np.diag(1 / self._repeats), C_B[:, numbers])
        return np.asarray(weights.T, dtype=float)

    def _remember(self, number: int, n: int, C_j: Array) -> None:
        """One more row of C_B, or more repeats of one it has."""
        if number not in self._B:
            self._C_B, row = self._C_B.reserve(1)
            row[0] = C_j
            self._B, self._repeats = [*self._B, number], np.append(self._repeats, 0.0)
        self._repeats[self._B.index(number)] += n


def _own(rows: Array, place: int, number: int) -> float:
    """cov_t(j, j)."""
    return max(0.0, float(rows[place, number]))


def _absorb(rows: Array, place: int, number: int, n: int) -> None:
    """cov_t(x, i) −= cov_t(x, j)·cov_t(i, j)·n/(1 + n·cov_t(j, j)) for every row i (K, A), in place."""
    row, shares = rows[place].copy(), rows[:, number] * (n / (1 + n * _own(rows, place, number)))
    blas.dger(-1.0, row, shares, a=rows.T, overwrite_a=1)
