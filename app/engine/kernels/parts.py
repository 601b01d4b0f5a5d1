"""What sums and products of kernels share: their parts' hyperparameters, one after the other."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from app.engine.kernels.kernel import Array, Description, Kernel


@dataclass(frozen=True)
class Parts:
    """At least one kernel."""

    parts: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("a sum or a product needs at least one part")

    @property
    def theta(self) -> Array:
        """The thetas of the parts, joined."""
        return np.concatenate([part.theta for part in self.parts])

    def with_theta(self, theta: Array) -> Self:
        """The same form with other hyperparameters."""
        ends = np.cumsum([part.theta.size for part in self.parts])[:-1]
        pieces = zip(self.parts, np.split(theta, ends), strict=True)
        return replace(self, parts=tuple(part.with_theta(piece) for part, piece in pieces))

    def _described(self, kind: str) -> Description:
        return {"kind": kind, "parts": [part.describe() for part in self.parts]}
