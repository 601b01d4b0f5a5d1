"""Forms of kernels: what is still to be fitted, with priors, and derivatives that share the work of the value.

The engine's kernels compute a value or a gradient for any X and Y. A fit needs both, for one small X, some hundred
times; a form therefore answers with K and its pull-back, which turns W (n, n) into Σ_ij W_ij ∂K_ij/∂theta.
`kernel(theta)` is the same kernel for the engine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.engine.arrays import Array
from app.engine.auto.priors import AMPLITUDE, Gamma, Prior
from app.engine.kernels import Columns, Kernel, Matern, Product, Scaled, Tanimoto

PullBack = Callable[[Array], Array]
Evaluate = Callable[[Array], tuple[Array, PullBack]]


class Form(Protocol):
    """A kernel with free hyperparameters e^theta, theta (q,)."""

    @property
    def priors(self) -> tuple[Prior, ...]:
        """One for every theta; equal neighbours are evaluated together."""
        ...

    def on(self, X: Array) -> Evaluate:
        """theta to K (n, n) of X (n, d) with itself, and its pull-back."""
        ...

    def kernel(self, theta: Array) -> Kernel:
        """The engine's kernel with these hyperparameters."""
        ...


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


@dataclass(frozen=True)
class ScaledTanimoto:
    """amplitude · Tanimoto of the bits of a fingerprint."""

    columns: tuple[int, ...]
    d: int

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Of the amplitude."""
        return (AMPLITUDE,)

    def on(self, X: Array) -> Evaluate:
        """The Tanimoto matrix is computed once."""
        points = np.ascontiguousarray(X[:, list(self.columns)])
        T = Tanimoto().matrix(points, points)

        def evaluate(theta: Array) -> tuple[Array, PullBack]:
            K = np.exp(theta[0]) * T
            return K, lambda W: np.array([np.vdot(W, K)])

        return evaluate

    def kernel(self, theta: Array) -> Kernel:
        """Scaled Tanimoto of all columns, or of some."""
        tanimoto = Tanimoto() if len(self.columns) == self.d else Columns(Tanimoto(), self.columns)
        return Scaled(tanimoto, float(np.exp(theta[0])))


@dataclass(frozen=True)
class Times:
    """The product of two forms: a molecule in a solvent."""

    first: Form
    second: Form

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Those of the first, then those of the second."""
        return self.first.priors + self.second.priors

    def on(self, X: Array) -> Evaluate:
        """Σ W∘∂(K₁∘K₂) = (Σ (W∘K₂)∘∂K₁, Σ (W∘K₁)∘∂K₂)."""
        first, second, q = self.first.on(X), self.second.on(X), len(self.first.priors)

        def evaluate(theta: Array) -> tuple[Array, PullBack]:
            K1, pull1 = first(theta[:q])
            K2, pull2 = second(theta[q:])
            return K1 * K2, lambda W: np.concatenate((pull1(W * K2), pull2(W * K1)))

        return evaluate

    def kernel(self, theta: Array) -> Kernel:
        """The engine's product."""
        q = len(self.first.priors)
        return Product((self.first.kernel(theta[:q]), self.second.kernel(theta[q:])))
