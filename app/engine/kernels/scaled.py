"""A kernel with an amplitude."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from app.engine.kernels.kernel import Array, Description, Kernel
from app.engine.kernels.positive import positive


@dataclass(frozen=True)
class Scaled:
    """k(x, y) = amplitude · part(x, y); the amplitude is a variance and is free."""

    part: Kernel
    amplitude: float = 1.0

    def __post_init__(self) -> None:
        positive("amplitude", self.amplitude)

    def matrix(self, X: Array, Y: Array) -> Array:
        """amplitude · part, (n, p)."""
        K = self.part.matrix(X, Y)
        K *= self.amplitude
        return K

    def diagonal(self, X: Array) -> Array:
        """amplitude · part, (n,)."""
        return self.amplitude * self.part.diagonal(X)

    @property
    def theta(self) -> Array:
        """(log amplitude, theta of the part)."""
        return np.concatenate(([np.log(self.amplitude)], self.part.theta))

    def with_theta(self, theta: Array) -> Self:
        """The same form with other hyperparameters."""
        return replace(self, amplitude=float(np.exp(theta[0])), part=self.part.with_theta(theta[1:]))

    def gradient(self, X: Array, Y: Array, W: Array) -> Array:
        """∂k/∂log amplitude = k; ∂k/∂theta of the part = amplitude · its own."""
        by_amplitude = np.vdot(W, self.part.matrix(X, Y))
        return self.amplitude * np.concatenate(([by_amplitude], self.part.gradient(X, Y, W)))

    def describe(self) -> Description:
        """The kind, the amplitude and the part."""
        return {"kind": "scaled", "amplitude": self.amplitude, "part": self.part.describe()}
