"""Sums of kernels."""

from dataclasses import dataclass

import numpy as np

from app.engine.kernels.kernel import Array, Description
from app.engine.kernels.parts import Parts


@dataclass(frozen=True)
class Sum(Parts):
    """k(x, y) = Σ_i part_i(x, y)."""

    def matrix(self, X: Array, Y: Array) -> Array:
        """Σ_i part_i, (n, p)."""
        first, *others = self.parts
        K = first.matrix(X, Y)
        for part in others:
            K += part.matrix(X, Y)
        return K

    def diagonal(self, X: Array) -> Array:
        """Σ_i part_i, (n,)."""
        first, *others = self.parts
        total = first.diagonal(X)
        for part in others:
            total += part.diagonal(X)
        return total

    def gradient(self, X: Array, Y: Array, W: Array) -> Array:
        """The gradients of the parts, joined."""
        return np.concatenate([part.gradient(X, Y, W) for part in self.parts])

    def describe(self) -> Description:
        """The kind and the parts."""
        return self._described("sum")
