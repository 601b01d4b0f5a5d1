"""Numbers, and words spelt out: Matérn 5/2 with a lengthscale for every column."""

from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array
from app.engine.auto.forms.form import Evaluate, PullBack
from app.engine.auto.priors import Gamma, Prior
from app.engine.kernels import Columns, Kernel, Matern


@dataclass(frozen=True)
class MaternArd:
    """Matérn 5/2 of some columns, a lengthscale each: (1 + s + s²/3) e^(−s), s = √5·r, r² = Σ_q ((x_q − y_q)/ℓ_q)²."""

    columns: tuple[int, ...]
    d: int
    """Columns of X: the prior of the lengthscales is scaled by all of them."""

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Gamma(3, 2/ℓ₀) each."""
        return (Gamma.of_lengthscale(self.d),) * len(self.columns)

    def on(self, X: Array) -> Evaluate:
        """∂K/∂log ℓ_q = F∘(u_q − v_q)², F = (5/3)(1 + s)e^(−s), u = x/ℓ; with M = W∘F symmetric, no (n, n, d) array:

        Σ_ij M_ij (u_iq − u_jq)² = 2 [Σ_i (M1)_i u_iq² − Σ_i u_iq (MU)_iq].
        """
        points = X[:, list(self.columns)]
        points = points - points.mean(axis=0)

        def evaluate(theta: Array) -> tuple[Array, PullBack]:
            U = points * np.exp(-theta)
            squares = np.einsum("iq,iq->i", U, U)
            r2 = squares[:, None] + squares - 2 * (U @ U.T)
            np.fill_diagonal(r2, 0.0)
            s = np.sqrt(5 * np.maximum(r2, 0.0))
            decay = np.exp(-s)
            slope = (s + 1) * decay
            K = slope + s * s * decay / 3

            def pull(W: Array) -> Array:
                M = W * slope
                M += M.T
                gradient: Array = M.sum(axis=1) @ U**2 - np.einsum("iq,iq->q", U, M @ U)
                return gradient * (5 / 3)

            return K, pull

        return evaluate

    def kernel(self, theta: Array) -> Kernel:
        """Matern of all columns, or of some."""
        matern = Matern(tuple(np.exp(theta).tolist()), 2.5)
        return matern if len(self.columns) == self.d else Columns(matern, self.columns)
