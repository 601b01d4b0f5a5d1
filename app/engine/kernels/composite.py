"""Kernels made of kernels: some columns, an amplitude, sums and products."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from app.arrays import FloatArray
from app.engine.kernels.base import Description, Kernel, require_positive


@dataclass(frozen=True)
class Columns:
    """k(x, y) = part(x[columns], y[columns]): lets a sum or a product combine, for example, bits and numbers."""

    part: Kernel
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        whole = all(type(column) is int for column in self.columns)
        if not self.columns or not whole or min(self.columns) < 0 or len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns must be distinct column numbers: {self.columns}")

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """part of the chosen columns, (n, p)."""
        return self.part.matrix(*self._both(X, Y))

    def diagonal(self, X: FloatArray) -> FloatArray:
        """part of the chosen columns, (n,)."""
        return self.part.diagonal(self._chosen(X))

    @property
    def theta(self) -> FloatArray:
        """theta of the part."""
        return self.part.theta

    def with_theta(self, theta: FloatArray) -> Self:
        """The same columns, the part with other hyperparameters."""
        return replace(self, part=self.part.with_theta(theta))

    def gradient(self, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:
        """The gradient of the part."""
        return self.part.gradient(*self._both(X, Y), W)

    def describe(self) -> Description:
        """The kind, the columns and the part."""
        return {"kind": "columns", "columns": list(self.columns), "part": self.part.describe()}

    def _chosen(self, X: FloatArray) -> FloatArray:
        if max(self.columns) >= X.shape[1]:
            raise ValueError(f"there is no column {max(self.columns)} among {X.shape[1]}, counted from 0")
        return np.ascontiguousarray(X[:, list(self.columns)])

    def _both(self, X: FloatArray, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The chosen columns of both; the same array twice when X is Y, which kernels treat as symmetric."""
        chosen = self._chosen(X)
        return chosen, chosen if X is Y else self._chosen(Y)


@dataclass(frozen=True)
class Scaled:
    """k(x, y) = amplitude · part(x, y); the amplitude is a variance and is free."""

    part: Kernel
    amplitude: float = 1.0

    def __post_init__(self) -> None:
        require_positive("amplitude", self.amplitude)

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """amplitude · part, (n, p)."""
        K = self.part.matrix(X, Y)
        K *= self.amplitude
        return K

    def diagonal(self, X: FloatArray) -> FloatArray:
        """amplitude · part, (n,)."""
        return self.amplitude * self.part.diagonal(X)

    @property
    def theta(self) -> FloatArray:
        """(log amplitude, theta of the part)."""
        return np.concatenate(([np.log(self.amplitude)], self.part.theta))

    def with_theta(self, theta: FloatArray) -> Self:
        """The same form with other hyperparameters."""
        return replace(self, amplitude=float(np.exp(theta[0])), part=self.part.with_theta(theta[1:]))

    def gradient(self, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:
        """∂k/∂log amplitude = k; ∂k/∂theta of the part = amplitude · its own."""
        by_amplitude = np.vdot(W, self.part.matrix(X, Y))
        return self.amplitude * np.concatenate(([by_amplitude], self.part.gradient(X, Y, W)))

    def describe(self) -> Description:
        """The kind, the amplitude and the part."""
        return {"kind": "scaled", "amplitude": self.amplitude, "part": self.part.describe()}


@dataclass(frozen=True)
class Composite:
    """Several kernels combined; theta lists the hyperparameters of the parts one after the other."""

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("a sum or a product needs at least one part")

    @property
    def theta(self) -> FloatArray:
        """The thetas of the parts, joined."""
        return np.concatenate([part.theta for part in self.parts])

    def with_theta(self, theta: FloatArray) -> Self:
        """The same form with other hyperparameters."""
        ends = np.cumsum([part.theta.size for part in self.parts])[:-1]
        pieces = zip(self.parts, np.split(theta, ends), strict=True)
        return replace(self, parts=tuple(part.with_theta(piece) for part, piece in pieces))


@dataclass(frozen=True)
class Sum(Composite):
    """k(x, y) = Σ_i part_i(x, y)."""

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Σ_i part_i, (n, p)."""
        first, *others = self.parts
        K = first.matrix(X, Y)
        for part in others:
            K += part.matrix(X, Y)
        return K

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Σ_i part_i, (n,)."""
        first, *others = self.parts
        total = first.diagonal(X)
        for part in others:
            total += part.diagonal(X)
        return total

    def gradient(self, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:
        """The gradients of the parts, joined."""
        return np.concatenate([part.gradient(X, Y, W) for part in self.parts])

    def describe(self) -> Description:
        """The kind and the parts."""
        return {"kind": "sum", "parts": [part.describe() for part in self.parts]}


@dataclass(frozen=True)
class Product(Composite):
    """k(x, y) = Π_i part_i(x, y)."""

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Π_i part_i, (n, p)."""
        first, *others = self.parts
        K = first.matrix(X, Y)
        for part in others:
            K *= part.matrix(X, Y)
        return K

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Π_i part_i, (n,)."""
        first, *others = self.parts
        total = first.diagonal(X)
        for part in others:
            total *= part.diagonal(X)
        return total

    def gradient(self, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:
        """∂k/∂theta of part_i = (Π_{j≠i} part_j) · its own, joined."""
        gradients = [part.gradient(X, Y, self._times_others(i, X, Y, W)) for i, part in enumerate(self.parts)]
        return np.concatenate(gradients)

    def describe(self) -> Description:
        """The kind and the parts."""
        return {"kind": "product", "parts": [part.describe() for part in self.parts]}

    def _times_others(self, i: int, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:
        """W ∘ Π_{j≠i} part_j, (n, p)."""
        weights = W.copy()
        for j, part in enumerate(self.parts):
            if j != i:
                weights *= part.matrix(X, Y)
        return weights
