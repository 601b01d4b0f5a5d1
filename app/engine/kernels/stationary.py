"""Kernels of the distance alone: k(x, y) = κ(r²), r² = Σ_q ((x_q − y_q) / lengthscale_q)², κ(0) = 1."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from app.arrays import FloatArray
from app.engine.kernels.base import Description, require_positive
from app.engine.kernels.distances import centred, map_distances, middle

NEGLIGIBLE = 1e-8
"""Below this r the gradient term of Matérn 1/2 (which is r) is smaller than the rounding error of its expansion."""


@dataclass(frozen=True)
class Stationary(ABC):
    """One lengthscale for all columns (a number), or one for each (a tuple: automatic relevance determination)."""

    kind: ClassVar[str]
    lengthscale: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        require_positive("lengthscale", self.lengthscale)

    @abstractmethod
    def _profile(self, r2: FloatArray) -> None:
        """r² to κ(r²), in place."""

    @abstractmethod
    def _slope(self, r2: FloatArray) -> None:
        """r² to −2κ'(r²), in place; 0 where that is infinite (r = 0)."""

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """κ(r²): X (n, d), Y (p, d) to (n, p)."""
        return map_distances(X, Y, self._scale(X), self._profile)

    def diagonal(self, X: FloatArray) -> FloatArray:
        """κ(0) = 1, (n,)."""
        return np.ones(len(X))

    @property
    def theta(self) -> FloatArray:
        """log lengthscale: (1,) or (d,)."""
        lengthscale: FloatArray = np.atleast_1d(np.asarray(self.lengthscale, dtype=float))
        return np.log(lengthscale)

    def with_theta(self, theta: FloatArray) -> Self:
        """The same kernel with lengthscale exp(theta)."""
        lengthscale = tuple(np.exp(theta).tolist())
        return replace(self, lengthscale=lengthscale if isinstance(self.lengthscale, tuple) else lengthscale[0])

    def gradient(self, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:
        """∂k/∂log ℓ_q = −2κ'(r²) (u_q − v_q)² with u = x/ℓ, v = y/ℓ; M = W ∘ −2κ'(r²).

        Σ_ij M_ij (u_iq − v_jq)² = Σ_i (M1)_i u_iq² + Σ_j (Mᵀ1)_j v_jq² − 2 Σ_i u_iq (MV)_iq: no (n, p, d) array.
        """
        scale = self._scale(X)
        centre = middle(X, Y)
        U, V = centred(X, centre, scale), centred(Y, centre, scale)
        M = map_distances(X, Y, scale, self._slope)
        M *= W
        per_column: FloatArray = M.sum(axis=1) @ U**2 + M.sum(axis=0) @ V**2 - 2 * np.einsum("iq,iq->q", U, M @ V)
        return per_column if isinstance(self.lengthscale, tuple) else per_column.sum(keepdims=True)

    def describe(self) -> Description:
        """The kind and the lengthscale."""
        lengthscale = list(self.lengthscale) if isinstance(self.lengthscale, tuple) else self.lengthscale
        return {"kind": self.kind, "lengthscale": lengthscale}

    def _scale(self, X: FloatArray) -> FloatArray:
        """The lengthscale of every column, (d,)."""
        if isinstance(self.lengthscale, tuple) and len(self.lengthscale) != X.shape[1]:
            raise ValueError(f"{len(self.lengthscale)} lengthscales for {X.shape[1]} columns")
        return np.broadcast_to(np.asarray(self.lengthscale, dtype=float), X.shape[1])


@dataclass(frozen=True)
class Gaussian(Stationary):
    """k(x, y) = exp(−r²/2), also called squared exponential or RBF; the lengthscale is the paper's bandwidth σ."""

    kind: ClassVar[str] = "gaussian"

    def _profile(self, r2: FloatArray) -> None:
        """κ = exp(−r²/2)."""
        r2 *= -0.5
        np.exp(r2, out=r2)

    def _slope(self, r2: FloatArray) -> None:
        """−2κ' = exp(−r²/2)."""
        self._profile(r2)


@dataclass(frozen=True)
class Matern(Stationary):
    """Matérn kernels of half-integer smoothness; with s = √(2ν)·r, κ is

    nu = 0.5   e^(−s)
    nu = 1.5   (1 + s) e^(−s)
    nu = 2.5   (1 + s + s²/3) e^(−s)
    """

    kind: ClassVar[str] = "matern"
    nu: float = 2.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5: {self.nu}")

    def describe(self) -> Description:
        """The kind, the lengthscale and nu."""
        return super().describe() | {"nu": self.nu}

    def _profile(self, r2: FloatArray) -> None:
        """κ as above."""
        s = self._s_and_decay(r2)
        if self.nu == 1.5:
            r2 *= s + 1
        elif self.nu == 2.5:
            r2 *= (s / 3 + 1) * s + 1

    def _slope(self, r2: FloatArray) -> None:
        """−2κ' = e^(−s)/r, 3 e^(−s), (5/3)(1 + s) e^(−s)."""
        s = self._s_and_decay(r2)
        if self.nu == 0.5:
            r2 *= np.divide(1, s, out=np.zeros_like(s), where=s > NEGLIGIBLE)
        elif self.nu == 1.5:
            r2 *= 3
        else:
            r2 *= (s + 1) * (5 / 3)

    def _s_and_decay(self, r2: FloatArray) -> FloatArray:
        """Return s = √(2ν r²) and leave e^(−s) in r2."""
        r2 *= 2 * self.nu
        s = np.sqrt(r2)
        np.exp(np.negative(s, out=r2), out=r2)
        return s
