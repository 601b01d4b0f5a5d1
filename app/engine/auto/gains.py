"""The gain over the recommended candidate: drawn from the posterior, corrected by what the study's promises were worth.

A distribution function of the draws goes through `TrackRecord.corrected`. It is monotone, so everything said of one
study fits together: nothing is left to gain with 95 % probability if and only if the chance of any gain is at most 5 %,
and a batch never promises more than the whole list.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine.auto.promises import TrackRecord

IN_NONE = 0.5
"""Draws that an event counts as if it is in none of them: they cannot tell it from impossible."""


@dataclass(frozen=True, eq=False)
class Gains:
    """The distribution of a gain."""

    values: FloatArray
    """(DRAWS + 1,) 0 and what was drawn, in ascending order."""
    shares: FloatArray
    """(DRAWS + 1,) the probability of a gain of at most each value; the last is 1."""

    @classmethod
    def of(cls, drawn: FloatArray, record: TrackRecord) -> Self:
        """From draws (DRAWS,) of the gain, none negative."""
        values = np.sort(np.append(drawn, 0.0))
        at_most = np.searchsorted(values, values, side="right") - 1
        return cls(values, record.corrected(_shares(at_most, len(drawn))))

    @property
    def chance(self) -> float:
        """The probability of any gain."""
        return float(1 - self.shares[0])

    def quantile(self, share: float) -> float:
        """The smallest value that is not exceeded with this probability."""
        return float(self.values[np.searchsorted(self.shares, share)])

    def expected_up_to(self, upper: float) -> float:
        """The mean, to which no gain counts for more than `upper`."""
        return min(upper, float(np.diff(self.shares, prepend=0.0) @ np.minimum(self.values, upper)))


def corrected_share(events: BoolArray, record: TrackRecord) -> float:
    """The probability that nothing better is left, from whether each draw (DRAWS,) says so."""
    return float(record.corrected(_shares(np.count_nonzero(events, keepdims=True), len(events)))[0])


def _shares(counts: IndexArray, draws: int) -> FloatArray:
    return np.maximum(counts, IN_NONE) / draws


def gains_over(values: FloatArray, rows: BoolArray | IndexArray, recommended: int) -> FloatArray:
    """(DRAWS,) by how much the best of these rows exceeds the recommended row; 0 where it does not."""
    with np.errstate(over="ignore"):
        ahead = values[rows].max(axis=0, initial=-np.inf) - values[recommended]
    gains: FloatArray = np.clip(ahead, 0.0, np.finfo(float).max)
    return gains


def expected_up_to(upper: float, gains: FloatArray) -> float:
    """The mean of drawn gains, none of which counts for more than `upper`.

    The mean itself need not exist: where skew was taken out by a logarithm, a gain is the exponential of a Student t.
    """
    return min(upper, float((np.minimum(gains, upper) / len(gains)).sum()))  # divided first: a sum could overflow
