"""The Matérn kernels of half-integer smoothness."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from app.engine.kernels.kernel import Array, Description
from app.engine.kernels.stationary import Stationary

NOTHING = 1e-8
"""Below this r the gradient term of Matérn 1/2 (which is r) is smaller than the rounding of its expansion."""


@dataclass(frozen=True)
class Matern(Stationary):
    """κ is, with s = √(2ν)·r:

    nu = 0.5   e^(−s)
    nu = 1.5   (1 + s) e^(−s)
    nu = 2.5   (1 + s + s²/3) e^(−s)
    """

    kind: ClassVar[str] = "matern"
    nu: float = 2.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5: {self.nu}")

    def describe(self) -> Description:
        return super().describe() | {"nu": self.nu}

    def _profile(self, r2: Array) -> None:
        s = self._s_and_decay(r2)
        if self.nu == 1.5:
            r2 *= s + 1
        elif self.nu == 2.5:
            r2 *= (s / 3 + 1) * s + 1

    def _slope(self, r2: Array) -> None:
        """−2κ' = e^(−s)/r, 3 e^(−s), (5/3)(1 + s) e^(−s)."""
        s = self._s_and_decay(r2)
        if self.nu == 0.5:
            r2 *= np.divide(1, s, out=np.zeros_like(s), where=s > NOTHING)
        elif self.nu == 1.5:
            r2 *= 3
        else:
            r2 *= (s + 1) * (5 / 3)

    def _s_and_decay(self, r2: Array) -> Array:
        """s = √(2ν r²), returned; e^(−s), put into r2."""
        r2 *= 2 * self.nu
        s = np.sqrt(r2)
        np.exp(np.negative(s, out=r2), out=r2)
        return s
