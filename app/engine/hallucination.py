"""Leverages while a batch grows: as if every chosen candidate had been measured already (its value is not needed).

Projected, as in Algorithm 1, in the coordinates y(x) = H z(x), where V_fb⁻¹ is the identity. Candidate j chosen n times
adds a row b to R, and p(x) = zᵀV⁻¹z is what is left of ‖y‖²:

    b = (I − RᵀR) y_j,  v = bᵀy_j,  b ← b·√(n/(1 + n·v))        V⁻¹ = Hᵀ(I − RᵀR)H        p(x) −= (bᵀy(x))²

Only RᵀR counts, so the triangular factor of R replaces it where R has more rows than are worth while.

Full: j first joins the embedding of this batch with the part of it that the dictionary does not see. Nothing has been
measured along that coordinate yet, so no leverage changes. Then the same formulas take all of cov(x, j) into account:

    c(x) = (k(x, j) − z_jᵀz(x)) / √residual(j)     residual(x) −= c²,  p(x) += c²/λ,  V gains a diagonal entry λ
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from app.arrays import FloatArray, IndexArray
from app.engine import sweep
from app.engine.embedding import in_float64
from app.engine.stability import RANK_TOLERANCE, Rescues, not_negative
from app.engine.state import State

SPARE_ROWS = 64
"""R may have so many rows more than columns, or twice as many, before its triangular factor replaces it."""


@dataclass
class Points:
    """Some candidates as the batch so far leaves them; z (n, m + b) after b coordinates joined in this batch."""

    numbers: IndexArray
    z: FloatArray
    residual: FloatArray
    projected_leverage: FloatArray
    y: FloatArray | None = None
    """(n, m + b) H z, once it is needed."""

    def leverage(self, lam: float) -> FloatArray:
        """residual/λ + zᵀV⁻¹z, (n,)."""
        return self.residual / lam + self.projected_leverage

    def only(self, slot: int) -> "Points":
        """One of them."""
        own = slice(slot, slot + 1)
        y = None if self.y is None else self.y[own]
        return Points(self.numbers[own], self.z[own], self.residual[own], self.projected_leverage[own], y)

    def at(self, slots: IndexArray) -> "Points":
        """Copies of some of them."""
        y = None if self.y is None else self.y[slots]
        return Points(self.numbers[slots], self.z[slots], self.residual[slots], self.projected_leverage[slots], y)

    def joined(self, others: "Points") -> "Points":
        """These, and the others behind them."""
        y = None if self.y is None or others.y is None else np.concatenate((self.y, others.y))
        return Points(
            np.concatenate((self.numbers, others.numbers)),
            np.concatenate((self.z, others.z)),
            np.concatenate((self.residual, others.residual)),
            np.concatenate((self.projected_leverage, others.projected_leverage)),
            y,
        )


class Hallucination:
    """R of the growing batch, and what other candidates need to catch up when they are looked at later."""

    def __init__(self, state: State, rescues: Rescues) -> None:
        self._state, self._rescues = state, rescues
        self._joined: list[tuple[int, FloatArray, float]] = []
        self._rows, self._taken = np.empty((0, len(state.S))), 0

    def points(self, numbers: IndexArray) -> Points:
        """Candidates as the batch so far leaves them."""
        state = self._state
        z = np.ascontiguousarray(sweep.embedding_of(state, numbers).T)
        points = Points(numbers, z, state.residual[numbers], state.projected_leverage[numbers])
        if self._joined:
            K = self._kernel_rows([j for j, _, _ in self._joined], numbers)
            for (_, z_j, r_j), k_j in zip(self._joined, K, strict=True):
                self._join(points, k_j, z_j, r_j)
        if self._taken:
            points.projected_leverage -= ((self._coordinates(points) @ self._R.T) ** 2).sum(axis=1)
            not_negative(points.projected_leverage)
        return points

    def take(self, j: Points, n: int, others: Points) -> None:
        """Choose the single candidate j n times, and bring `others` up to date."""
        number, z_j, r_j = int(j.numbers[0]), j.z[0], float(j.residual[0])
        if self._state.settings.hallucination == "full" and self._counts_as_new(number, r_j):
            self._joined.append((number, z_j, r_j))
            [k_j] = self._kernel_rows([number], np.concatenate((j.numbers, others.numbers)))
            self._join(j, k_j[:1], z_j, r_j)
            self._join(others, k_j[1:], z_j, r_j)
            self._rows = np.pad(self._rows, ((0, 0), (0, 1)))
        if j.z.shape[1] == 0:
            return
        y, y_j, R = self._coordinates(others), self._coordinates(j)[0], self._R
        b = y_j - (R @ y_j) @ R
        b *= math.sqrt(n / (1 + n * max(0.0, float(b @ y_j))))
        self._append(b)
        others.projected_leverage -= (y @ b) ** 2
        not_negative(others.projected_leverage)

    @property
    def _R(self) -> FloatArray:  # noqa: N802
        return self._rows[: self._taken]

    def _append(self, b: FloatArray) -> None:
        """One more row of R."""
        if self._taken == len(self._rows):
            R = self._R if self._taken <= len(b) else np.linalg.qr(self._R, mode="r")
            self._rows = np.empty((len(b) + max(len(b), SPARE_ROWS), len(b)))
            self._taken = len(R)
            self._rows[: self._taken] = R
        self._rows[self._taken] = b
        self._taken += 1

    def _coordinates(self, points: Points) -> FloatArray:
        """y = H z; along what has joined V is λ."""
        if points.y is None:
            m = len(self._state.S)
            y = points.z / math.sqrt(self._state.settings.lam)
            if m and len(y):
                y[:, :m] = scipy.linalg.blas.dtrmm(1.0, self._state.H.T, points.z[:, :m].T, trans_a=1).T
            points.y = y
        return points.y

    def _counts_as_new(self, number: int, residual: float) -> bool:
        """Whether the dictionary does not yet represent the candidate to the last digit."""
        k = float(self._state.settings.kernel.diagonal(in_float64(self._state.X[[number]]))[0])
        return residual > RANK_TOLERANCE * k

    def _kernel_rows(self, numbers: list[int], others: IndexArray) -> FloatArray:
        return sweep.kernel_rows(self._state, np.array(numbers), self._state.X[others], self._rescues)

    def _join(self, points: Points, k_j: FloatArray, z_j: FloatArray, r_j: float) -> None:
        """Add the coordinate that candidate j brings to the embedding; k_j are its kernel values with the points."""
        lam = self._state.settings.lam
        c = (k_j - points.z[:, : len(z_j)] @ z_j) / np.sqrt(r_j)
        c = np.clip(c, -np.sqrt(points.residual), np.sqrt(points.residual))
        points.z = np.column_stack((points.z, c))
        if points.y is not None:
            points.y = np.column_stack((points.y, c / math.sqrt(lam)))
        points.residual = not_negative(points.residual - c**2)
        points.projected_leverage = points.projected_leverage + c**2 / lam


class KeptHallucination(Hallucination):
    """Kept from one part of a batch to the next: whoever was looked at once stays up to date.

    So a batch that is chosen one candidate at a time costs a step per candidate, and not one for every pair of them.
    """

    def __init__(self, state: State, rescues: Rescues) -> None:
        super().__init__(state, rescues)
        self._known = super().points(np.zeros(0, dtype=np.int64))
        self._slots = np.full(len(state.X), -1, dtype=np.int64)
        self._counted = np.zeros(len(state.X), dtype=np.int64)

    def allows(self, pending: IndexArray) -> bool:
        """Whether everything that counts is still pending."""
        return bool((pending >= self._counted).all())

    def count(self, pending: IndexArray, rescues: Rescues) -> None:
        """As if everything pending had been measured; what counted before costs nothing."""
        self._rescues = rescues
        more = pending - self._counted
        for number in np.flatnonzero(more).tolist():
            self.take(self.points(np.array([number])), int(more[number]), self._known)
        self._counted = pending.copy()

    def points(self, numbers: IndexArray) -> Points:
        """Candidates as the batch so far leaves them; those that are new here are remembered."""
        self.learn(numbers)
        return self._known.at(self._slots[numbers])

    def lacks(self, numbers: IndexArray) -> bool:
        """Whether one of the candidates has not been looked at."""
        return bool((self._slots[numbers] < 0).any())

    def learn(self, numbers: IndexArray) -> None:
        """Look at candidates; many at once cost little more than one."""
        unknown = numbers[self._slots[numbers] < 0]
        if len(unknown) == 0:
            return
        fresh = super().points(unknown)
        if self._known.y is not None:
            self._coordinates(fresh)
        self._slots[unknown] = len(self._known.numbers) + np.arange(len(unknown))
        self._known = self._known.joined(fresh)
