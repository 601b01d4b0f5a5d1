"""The linear kernel."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from app.engine.kernels.dot import bounded, dot_products, squared_norms
from app.engine.kernels.kernel import Array, Description


@dataclass(frozen=True)
class Linear:
    """k(x, y) = xᵀy. No hyperparameters: `Scaled` gives it a variance."""

    def matrix(self, X: Array, Y: Array) -> Array:
        """xᵀy, (n, p)."""
        return dot_products(bounded(X), bounded(Y))

    def diagonal(self, X: Array) -> Array:
        """‖x‖², (n,)."""
        return squared_norms(bounded(X))

    @property
    def theta(self) -> Array:
        """Nothing, (0,)."""
        return np.empty(0)

    def with_theta(self, theta: Array) -> Self:  # noqa: ARG002
        """The same kernel."""
        return self

    def gradient(self, X: Array, Y: Array, W: Array) -> Array:  # noqa: ARG002
        """Nothing, (0,)."""
        return np.empty(0)

    def describe(self) -> Description:
        """The kind alone."""
        return {"kind": "linear"}
