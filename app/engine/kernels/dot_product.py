"""Kernels of the inner product xᵀy: linear, polynomial, Tanimoto. All are finite for every finite X."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from app.arrays import FloatArray
from app.engine.kernels.base import Description, Parameterless, require_positive
from app.engine.kernels.distances import mirror

LARGE = 1e75
"""Features are clipped here, so that xᵀy and its square are finite. A kernel of clipped features is still a kernel."""

HIGHEST_DEGREE = 100
"""With a degree that is not whole, a power of xᵀy is no kernel."""


@dataclass(frozen=True)
class Linear(Parameterless):
    """k(x, y) = xᵀy. No hyperparameters: `Scaled` gives it a variance."""

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """xᵀy, (n, p)."""
        return dot_products(clipped(X), clipped(Y))

    def diagonal(self, X: FloatArray) -> FloatArray:
        """‖x‖², (n,)."""
        return squared_norms(clipped(X))

    def describe(self) -> Description:
        """The kind alone."""
        return {"kind": "linear"}


@dataclass(frozen=True)
class Polynomial:
    """k(x, y) = (slope·xᵀy + offset)^degree; slope and offset are free."""

    degree: int = 2
    slope: float = 1.0
    offset: float = 1.0

    def __post_init__(self) -> None:
        require_positive("slope", self.slope)
        require_positive("offset", self.offset)
        if not 1 <= self.degree <= HIGHEST_DEGREE or self.degree % 1:
            raise ValueError(f"degree must be a whole number from 1 to {HIGHEST_DEGREE}: {self.degree}")

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """(slope·xᵀy + offset)^degree, (n, p)."""
        return self._power(dot_products(self._clipped(X), self._clipped(Y)))

    def diagonal(self, X: FloatArray) -> FloatArray:
        """(slope·‖x‖² + offset)^degree, (n,)."""
        return self._power(squared_norms(self._clipped(X)))

    @property
    def theta(self) -> FloatArray:
        """(log slope, log offset)."""
        return np.log([self.slope, self.offset])

    def with_theta(self, theta: FloatArray) -> Self:
        """The same degree with slope and offset exp(theta)."""
        slope, offset = np.exp(theta).tolist()
        return replace(self, slope=slope, offset=offset)

    def gradient(self, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:
        """With b = slope·xᵀy + offset: ∂k/∂log slope = degree·b^(degree−1)·slope·xᵀy, ∂k/∂log offset likewise, (2,)."""
        products = self.slope * dot_products(self._clipped(X), self._clipped(Y))
        outer = W * self.degree * (products + self.offset) ** (self.degree - 1)
        return np.array([np.vdot(outer, products), outer.sum() * self.offset])

    def describe(self) -> Description:
        """The kind and the three numbers."""
        return {"kind": "polynomial", "degree": self.degree, "slope": self.slope, "offset": self.offset}

    def _clipped(self, X: FloatArray) -> FloatArray:
        """Clipped so that the power stays finite."""
        return clipped(X, LARGE ** (1 / self.degree))

    def _power(self, products: FloatArray) -> FloatArray:
        """(slope·products + offset)^degree, in place."""
        products *= self.slope
        products += self.offset
        return np.power(products, self.degree, out=products)


@dataclass(frozen=True)
class Tanimoto(Parameterless):
    """k(x, y) = xᵀy / (‖x‖² + ‖y‖² − xᵀy), made for molecular fingerprints; also called Jaccard.

    For bits: bits in common over bits in either; 1 for two empty vectors.
    """

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """xᵀy / (‖x‖² + ‖y‖² − xᵀy), (n, p)."""
        U, V = clipped(X), clipped(Y)
        common = dot_products(U, V)
        either = np.add.outer(squared_norms(U), squared_norms(V))
        either -= common
        empty = either == 0
        common[empty] = either[empty] = 1
        common /= either
        return common

    def diagonal(self, X: FloatArray) -> FloatArray:
        """1, (n,)."""
        return np.ones(len(X))

    def describe(self) -> Description:
        """The kind alone."""
        return {"kind": "tanimoto"}


def clipped(X: FloatArray, limit: float = LARGE) -> FloatArray:
    """X clipped at ±limit (X itself if nothing exceeds it), (n, d)."""
    return np.clip(X, -limit, limit) if X.size and max(-X.min(), X.max()) > limit else X


def dot_products(X: FloatArray, Y: FloatArray) -> FloatArray:
    """xᵀy: X (n, d), Y (p, d) to (n, p); when X equals Y exactly symmetric, with squared_norms(X) as diagonal."""
    products = X @ Y.T
    if X is Y or np.array_equal(X, Y):
        mirror(products)
        np.fill_diagonal(products, squared_norms(X))
    return products


def squared_norms(X: FloatArray) -> FloatArray:
    """‖x_i‖²: (n, d) to (n,)."""
    norms: FloatArray = np.einsum("ij,ij->i", X, X)
    return norms
