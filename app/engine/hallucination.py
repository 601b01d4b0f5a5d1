"""Leverages while a batch grows: as if every chosen candidate had been measured already (its value is not needed).

Projected, as in Algorithm 1: candidate j chosen n times, with a = V⁻¹z_j and v = z_jᵀa, and p(x) = zᵀV⁻¹z,

    V⁻¹ −= a aᵀ·n/(1 + n·v)        p(x) −= (aᵀz(x))²·n/(1 + n·v)        p(j) = v/(1 + n·v)

Full: j first joins the embedding of this batch with the part of it that the dictionary does not see. Nothing has been
measured along that coordinate yet, so no leverage changes. Then the same formulas take all of cov(x, j) into account:

    c(x) = (k(x, j) − z_jᵀz(x)) / √residual(j)     residual(x) −= c²,  p(x) += c²/λ,  V gains a diagonal entry λ
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas

from app.arrays import FloatArray, IndexArray
from app.engine import sweep
from app.engine.stability import RANK_TOLERANCE, Rescues, not_negative
from app.engine.state import State


@dataclass
class Points:
    """Some candidates as the batch so far leaves them; z (n, m + b) after b coordinates joined in this batch."""

    numbers: IndexArray
    z: FloatArray
    residual: FloatArray
    projected_leverage: FloatArray

    def leverage(self, lam: float) -> FloatArray:
        """residual/λ + zᵀV⁻¹z, (n,)."""
        return self.residual / lam + self.projected_leverage


class Hallucination:
    """V⁻¹ of the growing batch, and what other candidates need to catch up when they are looked at later."""

    def __init__(self, state: State, rescues: Rescues) -> None:
        self._state, self._rescues = state, rescues
        self._joined: list[tuple[int, FloatArray, float]] = []
        self._taken: list[FloatArray] = []

    @cached_property
    def _V_inv(self) -> FloatArray:  # noqa: N802
        V_inv: FloatArray = self._state.H.T @ self._state.H
        return V_inv

    def points(self, numbers: IndexArray) -> Points:
        """Candidates as the batch so far leaves them."""
        state = self._state
        z = np.ascontiguousarray(sweep.embedding_of(state, numbers).T)
        points = Points(numbers, z, state.residual[numbers], state.projected_leverage[numbers])
        for j, z_j, r_j in self._joined:
            self._join(points, j, z_j, r_j)
        if self._taken:
            width = points.z.shape[1]
            rows = np.array([np.pad(a, (0, width - len(a))) for a in self._taken])
            points.projected_leverage -= ((points.z @ rows.T) ** 2).sum(axis=1)
            not_negative(points.projected_leverage)
        return points

    def take(self, j: Points, n: int, others: Points) -> None:
        """Choose the single candidate j n times, and bring `others` up to date."""
        number, z_j, r_j = int(j.numbers[0]), j.z[0], float(j.residual[0])
        if self._state.settings.hallucination == "full" and self._counts_as_new(number, r_j):
            self._joined.append((number, z_j, r_j))
            self._join(others, number, z_j, r_j)
            self._V_inv = np.pad(self._V_inv, ((0, 1), (0, 1)))
            self._V_inv[-1, -1] = 1 / self._state.settings.lam
            z_j = np.append(z_j, np.sqrt(r_j))
        if len(z_j) == 0:
            return
        a = self._V_inv @ z_j
        a *= np.sqrt(n / (1 + n * max(0.0, float(a @ z_j))))
        blas.dger(-1.0, a, a, a=self._V_inv.T, overwrite_a=1)
        self._taken.append(a)
        others.projected_leverage -= (others.z @ a) ** 2
        not_negative(others.projected_leverage)

    def _counts_as_new(self, number: int, residual: float) -> bool:
        """Whether the dictionary does not yet represent the candidate to the last digit."""
        k = float(self._state.settings.kernel.diagonal(self._state.X[[number]])[0])
        return residual > RANK_TOLERANCE * k

    def _join(self, points: Points, j: int, z_j: FloatArray, r_j: float) -> None:
        """Add the coordinate that candidate j brings to the embedding."""
        k_j = sweep.kernel_rows(self._state, np.array([j]), self._state.X[points.numbers], self._rescues)[0]
        c = (k_j - points.z[:, : len(z_j)] @ z_j) / np.sqrt(r_j)
        c = np.clip(c, -np.sqrt(points.residual), np.sqrt(points.residual))
        points.z = np.column_stack((points.z, c))
        points.residual = not_negative(points.residual - c**2)
        points.projected_leverage = points.projected_leverage + c**2 / self._state.settings.lam
