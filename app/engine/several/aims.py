"""What a choice is for: aims to make good, bounds to keep, and the chance that a measurement gives a value.

Everything is in model units, in which each posterior knows its quantity.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine.several.fronts import non_dominated
from app.engine.several.scalarising import chebyshev_score, hypervolume_score

MARGIN = 0.1
"""The reference point lies below the worst point of the front by this share of the front's range."""


@dataclass(frozen=True)
class Aim:
    """A posterior whose quantity is to be large or, with a target, near it."""

    posterior: int
    target: float | None = None
    reference: float | None = None
    """A value that is too bad to be of interest; None: found from what was measured."""
    preference: float | None = None

    def utility(self, mean: FloatArray, width: FloatArray | float = 0.0) -> FloatArray:
        """How good candidates are at most, if their values lie within `width` of the mean.

        −|y − t| ≤ −|mean − t| + |y − mean|: for a target, too, this is an upper bound, and it has no plateau.
        """
        return mean + width if self.target is None else width - np.abs(mean - self.target)


@dataclass(frozen=True)
class Bound:
    """A posterior whose quantity must lie between two values."""

    posterior: int
    low: float = -np.inf
    high: float = np.inf

    def holds(self, values: FloatArray) -> BoolArray:
        held: BoolArray = (values >= self.low) & (values <= self.high)
        return held

    def chance(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """The chance that the quantity is within the bounds."""
        safe = np.maximum(std, 1e-12)
        return np.asarray(scipy.special.ndtr((self.high - mean) / safe) - scipy.special.ndtr((self.low - mean) / safe))

    def slack(self, mean: FloatArray, width: FloatArray) -> FloatArray:
        """How far within the bounds the quantity is at most; negative where it cannot be."""
        return np.asarray(np.minimum(mean + width - self.low, self.high - (mean - width)))


def weighed(score: FloatArray, feasible: FloatArray) -> FloatArray:
    """Scores times the chance that they count; what is below the reference is no better for a low chance."""
    return np.where(score > 0, feasible * score, score)


@dataclass(frozen=True, eq=False)
class Aims:
    """The aims and bounds of a study. `optimistic` keeps what may be feasible instead of weighing its chance."""

    aims: tuple[Aim, ...]
    bounds: tuple[Bound, ...] = ()
    success: FloatArray | None = None
    """(A,) the chance that a measurement gives a value."""
    optimistic: bool = False
    origin: FloatArray = field(default_factory=lambda: np.zeros(0))
    """(K,) the reference point, in utilities."""
    scale: FloatArray = field(default_factory=lambda: np.ones(0))
    """(K,) the range of each utility on the front."""

    def scaled_by(self, means: Sequence[FloatArray], measured: IndexArray) -> "Aims":
        """The same with reference and ranges from what was measured, by the posterior means there."""
        points = np.column_stack([aim.utility(means[aim.posterior][measured]) for aim in self.aims])
        feasible = np.ones(len(measured), dtype=bool)
        for bound in self.bounds:
            feasible &= bound.holds(means[bound.posterior][measured])
        # While nothing is good enough, whatever is better than the worst is of interest.
        front = points[feasible][non_dominated(points[feasible])] if feasible.any() else points
        widest = np.ptp(points, axis=0)
        scale = np.ptp(front, axis=0)
        scale = np.where(scale > 0, scale, np.where(widest > 0, widest, 1.0))
        origin = front.min(axis=0) - MARGIN * scale
        stated = [aim.reference for aim in self.aims]
        origin = np.array([own if given is None else given for own, given in zip(origin, stated, strict=True)])
        return Aims(self.aims, self.bounds, self.success, self.optimistic, origin, scale)

    def score(
        self, means: Sequence[FloatArray], widths: Sequence[FloatArray], feasible: FloatArray, w: FloatArray
    ) -> FloatArray:
        """(A,) how good each choice is: higher is better. `feasible` are chances; w (K,) is the direction."""
        y = self.scaled(means, widths)
        if self.prefers:
            score = chebyshev_score(y, np.array([aim.preference or 1.0 for aim in self.aims]))
            score = score - score.min()
        else:
            score = hypervolume_score(y, w)
        if self.optimistic:
            return self._optimistic(score, means, widths)
        return weighed(score, feasible)

    def scaled(self, means: Sequence[FloatArray], widths: Sequence[FloatArray]) -> FloatArray:
        """(A, K) the utilities at most, above the reference and in units of their ranges."""
        utilities = np.column_stack([aim.utility(means[aim.posterior], widths[aim.posterior]) for aim in self.aims])
        return np.asarray((utilities - self.origin) / self.scale)

    @property
    def prefers(self) -> bool:
        """Whether one compromise is wanted instead of a front."""
        return any(aim.preference is not None for aim in self.aims)

    def _optimistic(self, score: FloatArray, means: Sequence[FloatArray], widths: Sequence[FloatArray]) -> FloatArray:
        """What may be feasible first (CONFIG, Xu et al. 2023), then what comes nearest to it."""
        if not self.bounds:
            return score
        slack = np.min([bound.slack(means[bound.posterior], widths[bound.posterior]) for bound in self.bounds], axis=0)
        may_be = slack >= 0
        return np.where(may_be, score, score[may_be].min() - 1 + slack) if may_be.any() else slack

    def chance(self, means: Sequence[FloatArray], stds: Sequence[FloatArray]) -> FloatArray:
        """(A,) the chance that a measurement gives a value and all bounds hold."""
        chance = np.ones(len(means[0])) if self.success is None else self.success.copy()
        for bound in self.bounds:
            chance *= bound.chance(means[bound.posterior], stds[bound.posterior])
        return chance
