"""What a kernel without hyperparameters has in place of them."""

from typing import Self

import numpy as np

from app.engine.kernels.kernel import Array


class Parameterless:
    """theta is empty, so there is nothing to set and nothing to differentiate by."""

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
