"""The Gaussian kernel (squared exponential, RBF)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from app.engine.kernels.kernel import Array
from app.engine.kernels.stationary import Stationary


@dataclass(frozen=True)
class Gaussian(Stationary):
    """k(x, y) = exp(−r²/2); the paper's bandwidth σ is the lengthscale."""

    kind: ClassVar[str] = "gaussian"

    def _profile(self, r2: Array) -> None:
        """κ = exp(−r²/2)."""
        r2 *= -0.5
        np.exp(r2, out=r2)

    def _slope(self, r2: Array) -> None:
        """−2κ' = exp(−r²/2)."""
        self._profile(r2)
