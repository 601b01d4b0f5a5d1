"""Kernels of the distance alone: k(x, y) = κ(r²), r² = Σ_q ((x_q − y_q) / lengthscale_q)², κ(0) = 1."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from app.engine.kernels.distance import centred, map_distances, middle
from app.engine.kernels.kernel import Array, Description
from app.engine.kernels.positive import positive


@dataclass(frozen=True)
class Stationary(ABC):
    """One lengthscale for all columns (a number), or one for each (a tuple: automatic relevance determination)."""

    kind: ClassVar[str]
    lengthscale: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        positive("lengthscale", self.lengthscale)

    @abstractmethod
    def _profile(self, r2: Array) -> None:
        """r² to κ(r²), in place."""

    @abstractmethod
    def _slope(self, r2: Array) -> None:
        """r² to −2κ'(r²), in place; where that is infinite (r = 0), 0."""

    def matrix(self, X: Array, Y: Array) -> Array:
        """κ(r²): X (n, d), Y (p, d) to (n, p)."""
        return map_distances(X, Y, self._scale(X), self._profile)

    def diagonal(self, X: Array) -> Array:
        """κ(0) = 1, (n,)."""
        return np.ones(len(X))

    @property
    def theta(self) -> Array:
        """log lengthscale: (1,) or (d,)."""
        lengthscale: Array = np.atleast_1d(np.asarray(self.lengthscale, dtype=float))
        return np.log(lengthscale)

    def with_theta(self, theta: Array) -> Self:
        """The same kernel with lengthscale exp(theta)."""
        lengthscale = tuple(np.exp(theta).tolist())
        return replace(self, lengthscale=lengthscale if isinstance(self.lengthscale, tuple) else lengthscale[0])

    def gradient(self, X: Array, Y: Array, W: Array) -> Array:
        """∂k/∂log ℓ_q = −2κ'(r²) (u_q − v_q)² with u = x/ℓ, v = y/ℓ; M = W ∘ −2κ'(r²).

        Σ_ij M_ij (u_iq − v_jq)² = Σ_i (M1)_i u_iq² + Σ_j (Mᵀ1)_j v_jq² − 2 Σ_i u_iq (MV)_iq: no (n, p, d) array.
        """
        scale = self._scale(X)
        centre = middle(X, Y)
        U, V = centred(X, centre, scale), centred(Y, centre, scale)
        M = map_distances(X, Y, scale, self._slope)
        M *= W
        per_column: Array = M.sum(axis=1) @ U**2 + M.sum(axis=0) @ V**2 - 2 * np.einsum("iq,iq->q", U, M @ V)
        return per_column if isinstance(self.lengthscale, tuple) else per_column.sum(keepdims=True)

    def describe(self) -> Description:
        """The kind and the lengthscale."""
        lengthscale = list(self.lengthscale) if isinstance(self.lengthscale, tuple) else self.lengthscale
        return {"kind": self.kind, "lengthscale": lengthscale}

    def _scale(self, X: Array) -> Array:
        """The lengthscale of every column, (d,)."""
        if isinstance(self.lengthscale, tuple) and len(self.lengthscale) != X.shape[1]:
            raise ValueError(f"{len(self.lengthscale)} lengthscales for {X.shape[1]} columns")
        return np.broadcast_to(np.asarray(self.lengthscale, dtype=float), X.shape[1])
