"""What a kernel must be able to do."""

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Description = dict[str, Any]


class Kernel(Protocol):
    """A positive semidefinite function k(x, y) with free positive hyperparameters exp(theta).

    Every kernel is a frozen dataclass: equal hyperparameters, equal kernel.
    """

    def matrix(self, X: Array, Y: Array) -> Array:
        """K_ij = k(x_i, y_j): X (n, d), Y (p, d) to (n, p). Exactly symmetric when X equals Y."""
        ...

    def diagonal(self, X: Array) -> Array:
        """k(x_i, x_i): X (n, d) to (n,). Exactly the diagonal of matrix(X, X)."""
        ...

    @property
    def theta(self) -> Array:
        """Logarithms of the free hyperparameters, (q,)."""
        ...

    def with_theta(self, theta: Array) -> Self:
        """The same kernel with other hyperparameters."""
        ...

    def gradient(self, X: Array, Y: Array, W: Array) -> Array:
        """Σ_ij W_ij ∂k(x_i, y_j)/∂theta_q for every q: W (n, p) to (q,)."""
        ...

    def describe(self) -> Description:
        """Plain JSON with a "kind"; `build` is the inverse."""
        ...
