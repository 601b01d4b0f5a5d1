"""What the covariances of a batch with itself say about all candidates: a bound that looks at no other candidate.

With u = A^(−1/2)φ(x)/‖·‖ and C = A^(−1/2) BᵀB A^(−1/2), the bound of Lemma 3 at x is 1 + uᵀCu and the true ratio is
1/(uᵀ(I + C)⁻¹u), which is at most that (Cauchy–Schwarz). Whatever x is, both lie between 1 and 1 + λ_max(C). The
nonzero eigenvalues of C are those of B A⁻¹ Bᵀ, the covariances of the batch with itself. So

    max over the batch's own candidates  ≤  max over all candidates  ≤  1 + λ_max(N^½ C_BB N^½)

for distinct candidates B with multiplicities N. It holds for both operators, the projected and the unprojected one, and
if the two ends lie on the same side of the threshold, they decide. Mostly they do: the largest ratio is nearly always
at a candidate of the batch. The unprojected C_BB has the larger λ_max, because (K_BB − Z_BᵀZ_B)/λ, by which it exceeds
the projected one, is positive semidefinite. n more choices of a candidate j add a row to N^½ C_BB N^½, with the corner
q = n·C_jj, so λ_max grows to

    (λ_max + q)/2 + √( (λ_max − q)²/4 + n·Σ_s N_s C_js² )       at most.
"""

import math

import numpy as np
import scipy

from app.arrays import BoolArray, FloatArray
from app.engine import sweep
from app.engine.stability import SMALLEST, Rescues, inverse_cholesky
from app.engine.state import State

MOST_DISTINCT = 128
"""Larger batches are not looked at: eigenvalues of b × b matrices would cost more than the sweeps they save."""

NOISE = 1e-12
"""A leverage below this share of k(x, x)/λ is rounding error, and so is a ratio of two of them."""


class BatchSpectrum:
    """C_BB of the distinct candidates of a batch, unprojected and projected, and their multiplicities."""

    def __init__(self, state: State, rescues: Rescues) -> None:
        self._state, self._rescues = state, rescues
        m = len(state.S)
        self._members = frozenset(state.S.tolist())
        self._slots: dict[int, int] = {}
        self._z, self._Hz = np.empty((MOST_DISTINCT, m)), np.empty((MOST_DISTINCT, m))
        self._unprojected, self._projected = (np.empty((MOST_DISTINCT, MOST_DISTINCT)) for _ in range(2))
        self._repeats, self._seen = np.zeros(MOST_DISTINCT), np.zeros(MOST_DISTINCT, dtype=bool)
        self._highest = 0.0
        self._bordered: tuple[int, int, float] | None = None

    @property
    def highest(self) -> float:
        """1 + λ_max of the choices so far is at most this."""
        return 1 + self._highest

    @property
    def is_full(self) -> bool:
        """Whether there are as many distinct candidates as are worth while."""
        return len(self._slots) >= MOST_DISTINCT

    def add(self, number: int, n: int) -> None:
        """n more choices of a candidate."""
        self._highest = self.bordered_if(number, n) - 1
        self._repeats[self._slot(number)] += n
        self._bordered = None

    def bordered_if(self, number: int, n: int) -> float:
        """1 + a bound on λ_max if a candidate were chosen n more times, at the cost of one row of C_BB."""
        if n == 0:
            return 1 + self._highest
        if self._bordered is None or self._bordered[:2] != (number, n):
            slot, b = self._slot(number), len(self._slots)
            row = self._unprojected[slot, :b]
            corner, aside = n * float(row[slot]), n * float(self._repeats[:b] @ row**2)
            half = (self._highest - corner) / 2
            self._bordered = number, n, 1 + (self._highest + corner) / 2 + math.sqrt(half * half + aside)
        return self._bordered[2]

    def is_at_most_if(self, number: int, n: int, highest: float) -> bool:
        """Whether 1 + λ_max would be at most this if a candidate were chosen n more times.

        A factorisation of (highest − 1)·I − N^½ C_BB N^½ tells, at a tenth of the cost of eigenvalues.
        """
        root = np.sqrt(self._weights_if(number, n))
        b = len(root)
        below = self._unprojected[:b, :b] * -root
        below *= root[:, None]
        below.flat[:: b + 1] += highest - 1
        return bool(scipy.linalg.lapack.dpotrf(below.T, overwrite_a=1, clean=0)[1] == 0)

    def highest_if(self, number: int, n: int) -> float:
        """1 + λ_max if a candidate were chosen n more times: no ratio and no bound of Lemma 3 is larger."""
        root = np.sqrt(self._weights_if(number, n))
        b = len(root)
        return 1 + max(0.0, float(np.linalg.eigvalsh(self._unprojected[:b, :b] * root * root[:, None])[-1]))

    def know(self, highest: float) -> None:
        """1 + λ_max of the choices so far is known to be at most this."""
        self._highest, self._bordered = min(self._highest, highest - 1), None

    def lemma_3_if(self, number: int, n: int) -> float:
        """The bound of Lemma 3 at the batch's own candidates, if one were chosen n more times."""
        weight = self._weights_if(number, n)
        sums = np.max([C**2 @ weight for C in self._operators()], axis=0)
        return 1 + self._largest(sums / self._leverages)

    def ratio_if(self, number: int, n: int) -> float:
        """The true ratio at the batch's own candidates, if one were chosen n more times."""
        weight = self._weights_if(number, n)
        lost = [_reduction(C, weight, weight > 0, self._rescues) for C in self._operators()]
        left = np.maximum(1 - np.max(lost, axis=0) / self._leverages, NOISE)
        return max(1.0, self._largest(1 / left))

    def _operators(self) -> tuple[FloatArray, ...]:
        """Both matrices, or one of them if they are equal."""
        b = len(self._slots)
        unprojected, projected = self._unprojected[:b, :b], self._projected[:b, :b]
        return (projected,) if self._seen[:b].all() else (unprojected, projected)

    @property
    def _leverages(self) -> FloatArray:
        return np.maximum(self._unprojected.diagonal()[: len(self._slots)], SMALLEST)

    def _largest(self, values: FloatArray) -> float:
        """The largest of the candidates whose leverage is more than rounding error."""
        state = self._state
        k = sweep.prior_variance(state, state.X[list(self._slots)], self._rescues)
        return float(values[self._leverages > NOISE * k / state.settings.lam].max(initial=0.0))

    def _weights_if(self, number: int, n: int) -> FloatArray:
        slot = self._slot(number)
        weight = self._repeats[: len(self._slots)].copy()
        weight[slot] += n
        return weight

    def _slot(self, number: int) -> int:
        slot = self._slots.get(number)
        return self._append(number) if slot is None else slot

    def _append(self, number: int) -> int:
        """One more candidate, not yet chosen."""
        state, b = self._state, len(self._slots)
        z = sweep.embedding_of(state, number)
        self._z[b], self._Hz[b] = z, state.H @ z
        self._seen[b] = number in self._members
        projected = self._Hz[:b] @ self._Hz[b]
        unprojected = projected + self._unseen_covariances(number, b)
        own, unseen = float(state.projected_leverage[number]), float(state.residual[number]) / state.settings.lam
        self._projected[b, :b] = self._projected[:b, b] = projected
        self._unprojected[b, :b] = self._unprojected[:b, b] = unprojected
        self._projected[b, b], self._unprojected[b, b] = own, own + unseen
        self._slots[number] = b
        return b

    def _unseen_covariances(self, number: int, b: int) -> FloatArray:
        """(k(x, j) − z(x)ᵀz_j)/λ with the candidates so far, (b,); 0 for members."""
        state, unseen = self._state, np.zeros(b)
        others = np.flatnonzero(~self._seen[:b])
        if len(others) and not self._seen[b]:
            X = state.X[np.array(list(self._slots), dtype=np.int64)[others]]
            k = sweep.kernel_rows(state, np.array([number]), X, self._rescues)[0]
            unseen[others] = (k - self._z[others] @ self._z[b]) / state.settings.lam
        return unseen


def _reduction(C: FloatArray, weight: FloatArray, taken: BoolArray, rescues: Rescues) -> FloatArray:
    """diag C_B (N⁻¹ + C_BB)⁻¹ C_Bᵀ: what the choices take off the leverages of the batch's candidates, (b,)."""
    C_B = C[taken]
    half = inverse_cholesky(C_B[:, taken] + np.diag(1 / weight[taken]), rescues)
    lost: FloatArray = ((half @ C_B) ** 2).sum(axis=0)
    return lost
