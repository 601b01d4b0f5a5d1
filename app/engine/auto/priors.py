"""Prior densities of positive hyperparameters, as functions of their logarithm u; constants are left out."""

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from app.arrays import FloatArray

SMALLEST_LENGTHSCALE = 0.025
LARGEST_LENGTHSCALE = 100.0
"""Bounds of a lengthscale; the largest is multiplied by √d."""


class Prior(Protocol):
    """A density with a mode and bounds."""

    def log_density(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """log p(e^u) and its derivative in u, both (q,) for u (q,)."""
        ...

    @property
    def mode(self) -> float:
        """u of the highest density."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest u allowed."""
        ...


@dataclass(frozen=True)
class Gamma:
    """Gamma(3, rate 2/ℓ₀) of a lengthscale, with its mode at ℓ₀: log p = 2u − 2e^u/ℓ₀."""

    centre: float
    largest: float = LARGEST_LENGTHSCALE

    @classmethod
    def of_lengthscale(cls, d: int) -> "Gamma":
        """ℓ₀ = e^(√2 − 3)·√d ≈ 0.205·√d: distances in the unit cube grow with √d."""
        return cls(math.exp(math.sqrt(2) - 3) * math.sqrt(d), LARGEST_LENGTHSCALE * math.sqrt(d))

    def log_density(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """2u − 2e^u/ℓ₀ and 2 − 2e^u/ℓ₀."""
        ratio = 2 * np.exp(u) / self.centre
        return 2 * u - ratio, 2 - ratio

    @property
    def mode(self) -> float:
        """log ℓ₀."""
        return math.log(self.centre)

    @property
    def bounds(self) -> tuple[float, float]:
        """ℓ in [0.025, 100√d]."""
        return math.log(SMALLEST_LENGTHSCALE), math.log(self.largest)


@dataclass(frozen=True)
class LogNormal:
    """LogNormal(centre, width²): log p = −(u − centre)²/(2 width²) − u."""

    centre: float
    width: float
    smallest: float
    largest: float

    def log_density(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """−z²/2 − u and −z/width − 1, z = (u − centre)/width."""
        z = (u - self.centre) / self.width
        return -z * z / 2 - u, -z / self.width - 1

    def fixed_at(self, value: float) -> "LogNormal":
        """The same prior of a value that is known; it stays between the same bounds."""
        known = min(max(value, self.smallest), self.largest)
        return replace(self, smallest=known, largest=known)

    @property
    def mode(self) -> float:
        """centre − width²."""
        return self.centre - self.width**2

    @property
    def bounds(self) -> tuple[float, float]:
        """The logarithms of the smallest and the largest value."""
        return math.log(self.smallest), math.log(self.largest)


@dataclass(frozen=True)
class Odds:
    """Normal(centre, 1) of u itself, the logarithm of a ratio of two weights: log p = −(u − centre)²/2."""

    centre: float

    def log_density(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """−z²/2 and −z, z = u − centre."""
        z = u - self.centre
        return -z * z / 2, -z

    @property
    def mode(self) -> float:
        """The centre."""
        return self.centre

    @property
    def bounds(self) -> tuple[float, float]:
        """Ratios between 1/400 and 400 times the expected one."""
        return self.centre - 6, self.centre + 6


NOISE = LogNormal(-2.5, 1.5, 1e-4, 2.0)
"""Of the noise variance, in units of the variance of the objective."""

BORROWED = LogNormal(0.0, 1.5, 1e-3, 9.0)
"""Of the variance with which an earlier study's expectation enters; mode 0.1. Near 0 nothing is borrowed."""

UNEXPLAINED = LogNormal(0.0, 1.0, 0.05, 1.0)
"""Of the share of the variance that stays where earlier studies are believed; mode 0.37. At 1 they explain nothing."""

AMPLITUDE = LogNormal(1.0, 1.0, 1e-2, 1e2)
"""Of the variance of f where it is fitted: mode 1."""
