"""The axes of a space: each parameter's values, or the range they come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from app.domain.candidates import Column
from app.services.intake.cells import Floats


@dataclass(frozen=True, eq=False)
class FiniteAxis:
    """A parameter with listed values: numbers, 0 and 1 for a boolean, or the codes 0, 1, … of the levels of a text."""

    column: Column
    values: Floats

    def __len__(self) -> int:
        return len(self.values)

    def at(self, quantiles: Floats) -> Floats:
        """The values at these quantiles in [0, 1), all equally likely."""
        return self.values[np.floor(quantiles * len(self.values)).astype(np.int64)]


@dataclass(frozen=True)
class ContinuousAxis:
    """A parameter that may take any number of a range; it can be sampled, not enumerated."""

    column: Column
    low: float
    high: float
    log: bool

    def at(self, quantiles: Floats) -> Floats:
        """The values at these quantiles in [0, 1), uniform on the linear or the logarithmic scale."""
        if not self.log:
            return np.clip((1 - quantiles) * self.low + quantiles * self.high, self.low, self.high)
        exponents = (1 - quantiles) * np.log(self.low) + quantiles * np.log(self.high)
        return np.clip(_twelve_digits(np.exp(exponents)), self.low, self.high)


Axis: TypeAlias = FiniteAxis | ContinuousAxis


def _twelve_digits(values: Floats) -> Floats:
    """Rounded, so that the last bits of this machine's exponential do not matter."""
    return np.array([float(f"{value:.12g}") for value in values.tolist()], dtype="<f8")


def spread(axes: Sequence[FiniteAxis]) -> int:
    """How many points the full product of the axes has."""
    size = 1
    for axis in axes:
        size *= len(axis)
    return size


def points_at(axes: Sequence[FiniteAxis], numbers: npt.NDArray[np.int64]) -> Floats:
    """The points of the product with these numbers, the last axis running fastest; one row per point."""
    points = np.empty((len(numbers), len(axes)), dtype="<f8")
    rest = numbers
    for position in reversed(range(len(axes))):
        rest, digit = np.divmod(rest, len(axes[position]))
        points[:, position] = axes[position].values[digit]
    return points
