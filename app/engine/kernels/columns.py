"""A kernel of some columns of the features."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from app.engine.kernels.kernel import Array, Description, Kernel


@dataclass(frozen=True)
class Columns:
    """k(x, y) = part(x[columns], y[columns]): lets sums and products join, say, bits and numbers."""

    part: Kernel
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.columns or min(self.columns) < 0 or len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns must be distinct column numbers: {self.columns}")

    def matrix(self, X: Array, Y: Array) -> Array:
        """part of the chosen columns, (n, p)."""
        return self.part.matrix(*self._both(X, Y))

    def diagonal(self, X: Array) -> Array:
        """part of the chosen columns, (n,)."""
        return self.part.diagonal(self._chosen(X))

    @property
    def theta(self) -> Array:
        """theta of the part."""
        return self.part.theta

    def with_theta(self, theta: Array) -> Self:
        """The same columns, the part with other hyperparameters."""
        return replace(self, part=self.part.with_theta(theta))

    def gradient(self, X: Array, Y: Array, W: Array) -> Array:
        """The gradient of the part."""
        return self.part.gradient(*self._both(X, Y), W)

    def describe(self) -> Description:
        """The kind, the columns and the part."""
        return {"kind": "columns", "columns": list(self.columns), "part": self.part.describe()}

    def _chosen(self, X: Array) -> Array:
        return np.ascontiguousarray(X[:, list(self.columns)])

    def _both(self, X: Array, Y: Array) -> tuple[Array, Array]:
        chosen = self._chosen(X)
        return chosen, chosen if X is Y else self._chosen(Y)
