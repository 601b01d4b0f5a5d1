"""Which points of a space are wanted: linear constraints and exclusions."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt

from app.services.intake.cells import Floats

_TOLERANCE = 1e-9
"""Relative to the terms of the sum: 0.1 + 0.2 + 0.7 equals 1."""


@dataclass(frozen=True)
class Linear:
    """lowest ≤ Σ coefficient · parameter ≤ highest; parameters by their position."""

    coefficients: tuple[tuple[int, float], ...]
    lowest: float = -inf
    highest: float = inf

    def holds(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Per point."""
        with np.errstate(over="ignore", invalid="ignore"):  # a sum beyond all doubles meets no bound
            terms = np.stack([coefficient * points[:, position] for position, coefficient in self.coefficients])
            total, slack = terms.sum(axis=0), _TOLERANCE * np.abs(terms).sum(axis=0)
            return np.asarray((total >= self.lowest - slack) & (total <= self.highest + slack))


@dataclass(frozen=True)
class Condition:
    """One parameter within bounds or among values (codes for a text)."""

    position: int
    lowest: float = -inf
    highest: float = inf
    values: tuple[float, ...] | None = None

    def holds(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Per point."""
        column = points[:, self.position]
        if self.values is not None:
            return np.isin(column, self.values)
        return (column >= self.lowest) & (column <= self.highest)


@dataclass(frozen=True)
class Rules:
    """All constraints hold, and no exclusion is met in full."""

    constraints: Sequence[Linear] = ()
    exclusions: Sequence[Sequence[Condition]] = ()

    def allow(self, points: Floats) -> npt.NDArray[np.bool_]:
        """Per point."""
        allowed = np.ones(len(points), dtype=bool)
        for constraint in self.constraints:
            allowed &= constraint.holds(points)
        for conditions in self.exclusions:
            allowed &= ~np.logical_and.reduce([condition.holds(points) for condition in conditions])
        return allowed
