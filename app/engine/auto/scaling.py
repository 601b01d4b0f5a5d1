"""A column of numbers to about [0, 1]: linear, or in the logarithm where it spans decades."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from app.engine.arrays import Array
from app.engine.auto.columns import Scale

DECADES = 50.0
"""From this ratio of largest to smallest value on, a positive column is read in its logarithm."""

OUTSIDE = 1e6
"""Later candidates far outside the learnt range are cut here (in units of the range): features stay finite."""


@dataclass(frozen=True)
class Scaling:
    """u = (v − low)/(high − low), or the same of log v; linear beyond the learnt range.

    A logarithm cannot go on below zero: there, and wherever u < −1, u = −1 (a whole range below the smallest learnt
    value).
    """

    kind: Literal["linear", "log", "none"]
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def learn(cls, values: Array, scale: Scale = "auto") -> Self:
        """The scaling of a column that is not constant, values (A,)."""
        low, high = float(values.min()), float(values.max())
        if scale == "log" and low <= 0:
            raise ValueError(f"a logarithm needs positive values, the smallest is {low}")
        if scale == "auto":
            scale = "log" if low > 0 and high / DECADES >= low else "linear"
        return cls(scale, low, high)

    def apply(self, values: Array) -> Array:
        """Values (n,) to features (n,), finite for every finite value."""
        if self.kind == "none":
            return np.clip(values, -OUTSIDE, OUTSIDE)
        if self.kind == "log":
            low, high = np.log(self.low), np.log(self.high)
            with np.errstate(divide="ignore"):
                u: Array = (np.log(np.maximum(values, 0.0)) - low) / (high - low)
            return np.clip(u, -1.0, OUTSIDE)
        # Halves where the difference of two finite numbers may overflow; subnormal ones would lose their last bit.
        share = 0.5 if max(-self.low, self.high) > 1 else 1.0
        with np.errstate(over="ignore"):
            u = (values * share - self.low * share) / (self.high * share - self.low * share)
        return np.clip(u, -OUTSIDE, OUTSIDE)

    def describe(self) -> dict[str, Any]:
        """Plain JSON; Scaling(**description) is the inverse."""
        return dict(self.__dict__)
