"""What every kernel can do, and what kernels share."""

import math
from typing import Any, Protocol, Self

import numpy as np

from app.arrays import FloatArray

Description = dict[str, Any]


class Kernel(Protocol):
    """A positive semidefinite function k(x, y) with free positive hyperparameters exp(theta).

    Every kernel is a frozen dataclass: kernels with equal hyperparameters are equal.
    """

    def matrix(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """K_ij = k(x_i, y_j): X (n, d), Y (p, d) to (n, p). Exactly symmetric when X equals Y."""
        ...

    def diagonal(self, X: FloatArray) -> FloatArray:
        """k(x_i, x_i): X (n, d) to (n,). Exactly the diagonal of matrix(X, X)."""
        ...

    @property
    def theta(self) -> FloatArray:
        """Logarithms of the free hyperparameters, (q,)."""
        ...

    def with_theta(self, theta: FloatArray) -> Self:
        """The same kernel with other hyperparameters."""
        ...

    def gradient(self, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:
        """Σ_ij W_ij ∂k(x_i, y_j)/∂theta_q for every q: W (n, p) to (q,)."""
        ...

    def describe(self) -> Description:
        """Plain JSON with a "kind"; `build` is the inverse."""
        ...


class Parameterless:
    """A kernel without hyperparameters: theta is empty, and so is the gradient."""

    @property
    def theta(self) -> FloatArray:
        """Empty, (0,)."""
        return np.empty(0)

    def with_theta(self, theta: FloatArray) -> Self:  # noqa: ARG002
        """The same kernel."""
        return self

    def gradient(self, X: FloatArray, Y: FloatArray, W: FloatArray) -> FloatArray:  # noqa: ARG002
        """Empty, (0,)."""
        return np.empty(0)


def require_positive(name: str, values: float | tuple[float, ...]) -> None:
    """Raise ValueError unless there is at least one value and all are positive and finite."""
    listed = values if isinstance(values, tuple) else (values,)
    if not listed or not all(math.isfinite(value) and value > 0 for value in listed):
        raise ValueError(f"{name} must be positive and finite: {values}")
