"""The polynomial kernel."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from app.engine.kernels.dot import LARGE, bounded, dot_products, squared_norms
from app.engine.kernels.kernel import Array, Description
from app.engine.kernels.positive import positive


@dataclass(frozen=True)
class Polynomial:
    """k(x, y) = (slope·xᵀy + offset)^degree; slope and offset are free."""

    degree: int = 2
    slope: float = 1.0
    offset: float = 1.0

    def __post_init__(self) -> None:
        positive("slope", self.slope)
        positive("offset", self.offset)
        if self.degree < 1:
            raise ValueError(f"degree must be at least 1: {self.degree}")

    def matrix(self, X: Array, Y: Array) -> Array:
        """(slope·xᵀy + offset)^degree, (n, p)."""
        return self._power(dot_products(self._bounded(X), self._bounded(Y)))

    def diagonal(self, X: Array) -> Array:
        """(slope·‖x‖² + offset)^degree, (n,)."""
        return self._power(squared_norms(self._bounded(X)))

    @property
    def theta(self) -> Array:
        """(log slope, log offset)."""
        return np.log([self.slope, self.offset])

    def with_theta(self, theta: Array) -> Self:
        """The same degree with slope and offset exp(theta)."""
        slope, offset = np.exp(theta).tolist()
        return replace(self, slope=slope, offset=offset)

    def gradient(self, X: Array, Y: Array, W: Array) -> Array:
        """With b = slope·xᵀy + offset: ∂k/∂log slope = degree·b^(degree−1)·slope·xᵀy, ∂k/∂log offset likewise, (2,)."""
        products = self.slope * dot_products(self._bounded(X), self._bounded(Y))
        outer = W * self.degree * (products + self.offset) ** (self.degree - 1)
        return np.array([np.vdot(outer, products), outer.sum() * self.offset])

    def describe(self) -> Description:
        """The kind and the three numbers."""
        return {"kind": "polynomial", "degree": self.degree, "slope": self.slope, "offset": self.offset}

    def _bounded(self, X: Array) -> Array:
        """Cut so that the power stays finite."""
        return bounded(X, LARGE ** (1 / self.degree))

    def _power(self, products: Array) -> Array:
        products *= self.slope
        products += self.offset
        return np.power(products, self.degree, out=products)
