"""How far the leverages of all candidates drift while a batch grows: what the local and the exact rule look at.

Each class answers with one number, a maximum over all candidates, and keeps rows of covariances over all of them (b, A)
for a few candidates at a time, each shard of the embedding filling its part.

Fetching rows reads Z once however many rows there are, so sixteen cost little more than one: with the row that is
needed come those of the candidates that are likely to be chosen next. `spectrum` decides most choices without any row.
"""

from collections.abc import Callable, Container, Sequence

import numpy as np
import scipy

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import sweep
from app.engine.ask import NO_CANDIDATES
from app.engine.embedding import Rows
from app.engine.stability import Rescues, inverse_cholesky
from app.engine.state import State

ROWS_PER_SWEEP = 8
ROWS_TO_CATCH_UP = 64
"""Rows in one sweep if it is known which are needed."""

MOST_HELD = 2**22
"""Numbers held at most for each kind of covariance."""

NOISE = 1e-12
"""A leverage below this share of k(x, x)/λ is rounding error, and so is a ratio of two of them."""

Forecast = Callable[[int], IndexArray]
"""Up to n candidates that are likely to be chosen next."""

Chosen = Sequence[tuple[int, int]]
"""Candidates and how often each was chosen."""


def no_forecast(n: int) -> IndexArray:  # noqa: ARG001
    """No candidate is more likely than another."""
    return NO_CANDIDATES


class SquareSums:
    """Σ_s cov_fb(x, x_s)² and Σ_s (zᵀV⁻¹z_s)² over the candidates s chosen so far: the bound of Lemma 3.

    The bound is max_x 1 + max(both sums)/leverage_fb(x).
    """

    def __init__(self, state: State, forecast: Forecast, rescues: Rescues) -> None:
        self._state, self._forecast, self._rescues = state, forecast, rescues
        self._leverage = state.leverage
        self._divisor = np.where(_reliable(state, self._leverage, rescues), self._leverage, np.inf)
        self._sums: tuple[FloatArray, FloatArray] | None = None
        self._held: dict[int, tuple[FloatArray, FloatArray]] = {}

    def leverage(self, number: int) -> float:
        """leverage_fb of a candidate: one choice of it adds at most this to the bound (Cauchy–Schwarz)."""
        return float(self._leverage[number])

    def add(self, chosen: Chosen) -> float:
        """Add candidates to the sums; the bound after that."""
        repeats: dict[int, int] = {}
        for number, n in chosen:
            repeats[number] = repeats.get(number, 0) + n
        fetched = [number for number in repeats if number not in self._held]
        most = max(1, min(ROWS_TO_CATCH_UP, MOST_HELD // len(self._state.X)))
        for first in range(0, len(fetched), most):
            numbers = fetched[first : first + most]
            full, projected = self._fetch(np.array(numbers, dtype=np.int64))
            n_each = np.array([repeats.pop(number) for number in numbers], dtype=float)
            self._sums = self._sums_and(n_each @ full, n_each @ projected)
        for number, n in repeats.items():
            self._sums = self._sums_with(number, n)
        return 1.0 if self._sums is None else self._bound(*self._sums)

    def bound_if(self, number: int, n: int) -> float:
        """The bound if a candidate were chosen n more times."""
        return self._bound(*self._sums_with(number, n))

    def _bound(self, full: FloatArray, projected: FloatArray) -> float:
        return 1 + float((np.maximum(full, projected) / self._divisor).max(initial=0.0))

    def _sums_with(self, number: int, n: int) -> tuple[FloatArray, FloatArray]:
        """Both sums with n more squares of one candidate."""
        if number not in self._held:
            self._fetch(_rows_to_fetch(number, NO_CANDIDATES, self._forecast, len(self._state.X), self._held))
        full, projected = self._held[number]
        return self._sums_and(n * full, n * projected)

    def _sums_and(self, full: FloatArray, projected: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (full, projected) if self._sums is None else (self._sums[0] + full, self._sums[1] + projected)

    def _fetch(self, numbers: IndexArray) -> tuple[FloatArray, FloatArray]:
        """cov_fb(x, j)² and the square of its projected part, (b, A) each; they are held."""
        self._make_room(len(numbers))
        full, projected = sweep.covariance_rows(self._state, numbers, self._rescues)
        np.square(full, out=full), np.square(projected, out=projected)
        self._held |= zip(numbers.tolist(), zip(full, projected, strict=True), strict=True)
        return full, projected

    def _make_room(self, rows: int) -> None:
        """Forget the rows that were fetched first; cov_fb stands still within a batch, so they can be fetched again."""
        while self._held and (len(self._held) + rows) * len(self._state.X) > MOST_HELD:
            del self._held[next(iter(self._held))]


class TrueRatios:
    """max_x leverage_fb(x)/leverage_t(x) itself, for the projected and the unprojected leverages.

    For the distinct candidates B of the batch with multiplicities n, M = (diag(1/n) + C_BB)⁻¹, C_B(x) = cov_fb(x, B):

        unprojected:  cov_t(x, j) = cov_fb(x, j) − C_B(x)ᵀ M C_B(j)    leverage(x) −= cov_t(x, j)²·n/(1 + n·cov_t(j, j))
        projected:    a = V_t⁻¹z_j                                     leverage(x) −= (aᵀz(x))²·n/(1 + n·aᵀz_j)

    Rank-one updates, at O(A·(m + b)) for each choice.
    """

    def __init__(self, state: State, forecast: Forecast, rescues: Rescues) -> None:
        self._state, self._forecast, self._rescues = state, forecast, rescues
        self._leverage = state.leverage
        reliable = _reliable(state, self._leverage, rescues)
        self._least = np.where(reliable, NOISE * self._leverage, np.inf)
        self._unprojected, self._projected = self._leverage.copy(), self._leverage.copy()
        self._V_inv: FloatArray = state.H.T @ state.H
        self._B: list[int] = []
        self._repeats = np.zeros(0)
        self._C_B = Rows.empty(len(state.X))
        self._held: list[int] = []
        self._C_held, self._cov_unprojected, self._cov_projected = (np.zeros((0, len(state.X))) for _ in range(3))

    def leverage(self, number: int) -> float:
        """The larger of the two leverages of a candidate now."""
        return float(max(self._unprojected[number], self._projected[number]))

    def add(self, chosen: Chosen) -> float:
        """Take in the candidates chosen; the larger of the two largest ratios after that."""
        numbers = np.array([number for number, _ in chosen], dtype=np.int64)
        for i, (number, n) in enumerate(chosen):
            self._add(self._slot(number, numbers[i + 1 :]), n)
        return self._largest(self._unprojected, self._projected)

    def bound_if(self, number: int, n: int) -> float:
        """The larger of the two largest ratios if a candidate were chosen n more times."""
        return self._largest(*self._leverages_if(self._slot(number), n))

    def _add(self, slot: int, n: int) -> None:
        number = self._held[slot]
        self._unprojected, self._projected = self._leverages_if(slot, n)
        self._remember(number, n, self._C_held[slot])
        a = self._V_inv @ sweep.embedding_of(self._state, number)
        own = _own_covariance(self._cov_projected, slot, number)
        if len(a):
            scipy.linalg.blas.dger(-n / (1 + n * own), a, a, a=self._V_inv.T, overwrite_a=1)
        _condition(self._cov_unprojected, slot, number, n)
        _condition(self._cov_projected, slot, number, n)

    def _largest(self, unprojected: FloatArray, projected: FloatArray) -> float:
        left = np.minimum(unprojected, projected)
        return float((self._leverage / np.maximum(left, self._least)).max(initial=1.0))

    def _leverages_if(self, slot: int, n: int) -> tuple[FloatArray, FloatArray]:
        """Both leverages (A,) if the candidate in a slot were chosen n more times."""
        number = self._held[slot]
        unprojected = _reduction(self._cov_unprojected, slot, number, n)
        projected = _reduction(self._cov_projected, slot, number, n)
        return self._unprojected - unprojected, self._projected - projected

    def _slot(self, number: int, queued: IndexArray = NO_CANDIDATES) -> int:
        """Where its covariances are; they are fetched, with those of its successors, if they are not held."""
        if number not in self._held:
            self._fetch(_rows_to_fetch(number, queued, self._forecast, len(self._state.X)))
        return self._held.index(number)

    def _fetch(self, numbers: IndexArray) -> None:
        """One sweep over Z, and one over the rows of the batch."""
        self._held = numbers.tolist()
        self._C_held, self._cov_projected = sweep.covariance_rows(self._state, numbers, self._rescues, self._V_inv)
        self._cov_unprojected = self._C_held - self._weights(numbers) @ self._C_B.array

    def _weights(self, numbers: IndexArray) -> FloatArray:
        """C_B(j)ᵀ M, (|j|, |B|)."""
        C_B = self._C_B.array
        half = inverse_cholesky(C_B[:, self._B] + np.diag(1 / self._repeats), self._rescues)
        weights: FloatArray = (half @ C_B[:, numbers]).T @ half
        return weights

    def _remember(self, number: int, n: int, C_j: FloatArray) -> None:
        """One more row of C_B, or more repeats of one that is there."""
        if number not in self._B:
            self._C_B, row = self._C_B.reserve(1)
            row[0] = C_j
            self._B, self._repeats = [*self._B, number], np.append(self._repeats, 0.0)
        self._repeats[self._B.index(number)] += n


def _reliable(state: State, leverage: FloatArray, rescues: Rescues) -> BoolArray:
    """(A,) candidates whose leverage is more than rounding error."""
    more: BoolArray = leverage > NOISE * sweep.prior_variance(state, state.X, rescues) / state.settings.lam
    return more


def _rows_to_fetch(
    number: int, queued: IndexArray, forecast: Forecast, width: int, held: Container[int] = ()
) -> IndexArray:
    """A candidate, those queued behind it and those likely to follow that are not held: what one sweep should fetch."""
    most = max(1, min(ROWS_PER_SWEEP, MOST_HELD // width))
    numbers = np.concatenate(([number], queued[:most], forecast(most)))
    _, first = np.unique(numbers, return_index=True)
    distinct = numbers[np.sort(first)].astype(np.int64)
    return np.array([candidate for candidate in distinct.tolist() if candidate not in held][:most], dtype=np.int64)


def _own_covariance(rows: FloatArray, slot: int, number: int) -> float:
    """cov_t(j, j)."""
    return max(0.0, float(rows[slot, number]))


def _reduction(rows: FloatArray, slot: int, number: int, n: int) -> FloatArray:
    """cov_t(x, j)²·n/(1 + n·cov_t(j, j)) for all x, (A,)."""
    reduction: FloatArray = rows[slot] ** 2 * (n / (1 + n * _own_covariance(rows, slot, number)))
    return reduction


def _condition(rows: FloatArray, slot: int, number: int, n: int) -> None:
    """cov_t(x, i) −= cov_t(x, j)·cov_t(i, j)·n/(1 + n·cov_t(j, j)) for every row i, in place."""
    row, shares = rows[slot].copy(), rows[:, number] * (n / (1 + n * _own_covariance(rows, slot, number)))
    scipy.linalg.blas.dger(-1.0, row, shares, a=rows.T, overwrite_a=1)
