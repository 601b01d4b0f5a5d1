"""Products of kernels."""

from dataclasses import dataclass

import numpy as np

from app.engine.kernels.kernel import Array, Description
from app.engine.kernels.parts import Parts


@dataclass(frozen=True)
class Product(Parts):
    """k(x, y) = Π_i part_i(x, y)."""

    def matrix(self, X: Array, Y: Array) -> Array:
        """Π_i part_i, (n, p)."""
        first, *others = self.parts
        K = first.matrix(X, Y)
        for part in others:
            K *= part.matrix(X, Y)
        return K

    def diagonal(self, X: Array) -> Array:
        """Π_i part_i, (n,)."""
        first, *others = self.parts
        total = first.diagonal(X)
        for part in others:
            total *= part.diagonal(X)
        return total

    def gradient(self, X: Array, Y: Array, W: Array) -> Array:
        """∂k/∂theta of part_i = (Π_{j≠i} part_j) · its own, joined."""
        return np.concatenate(
            [part.gradient(X, Y, self._times_others(i, X, Y, W)) for i, part in enumerate(self.parts)]
        )

    def describe(self) -> Description:
        """The kind and the parts."""
        return self._described("product")

    def _times_others(self, i: int, X: Array, Y: Array, W: Array) -> Array:
        """W ∘ Π_{j≠i} part_j, (n, p)."""
        weights = W.copy()
        for j, part in enumerate(self.parts):
            if j != i:
                weights *= part.matrix(X, Y)
        return weights
