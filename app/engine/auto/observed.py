"""The measurements of a study: single ones in the user's units, and grouped by candidate in model units for a fit."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from app.arrays import FloatArray, IndexArray
from app.engine.auto.error_bars import SingleValues
from app.engine.auto.objective import ObjectiveTransform
from app.engine.embedding import in_float64

MOST_DISTINCT = 256
"""A fit reads at most this many distinct candidates."""


@dataclass(frozen=True, eq=False)
class Observed:
    """Single measurements in the order of the ledger, in the user's units."""

    counts: IndexArray
    """(A,) how often each candidate was measured."""
    numbers: IndexArray
    """(n,) the candidate of each measurement."""
    values: FloatArray
    """(n,)."""
    errors: FloatArray | None = None
    """(n,) the standard error of each value, 0 where it has none; None if no value has one."""

    @classmethod
    def of(cls, candidates: int, numbers: ArrayLike, values: ArrayLike, errors: FloatArray | None = None) -> Self:
        """Measurements of a list of that many candidates; NaN is no standard error."""
        measured, measurements = np.asarray(numbers, dtype=np.int64).ravel(), np.asarray(values, dtype=float).ravel()
        if measured.shape != measurements.shape or not np.isfinite(measurements).all():
            raise ValueError("every measurement needs a candidate and a finite value")
        if len(measured) and not 0 <= measured.min() <= measured.max() < candidates:
            raise ValueError(f"measurements of candidates beyond the {candidates} known ones")
        known = None if errors is None or not (errors > 0).any() else np.nan_to_num(errors)
        return cls(np.bincount(measured, minlength=candidates).astype(np.int64), measured, measurements, known)

    @property
    def size(self) -> int:
        """n, how many measurements there are."""
        return len(self.values)

    @property
    def distinct(self) -> int:
        """How many candidates were measured at least once."""
        return int(np.count_nonzero(self.counts))

    @property
    def repeats(self) -> int:
        """How many measurements were of a candidate that had been measured before."""
        return self.size - self.distinct

    def sums(self, values: FloatArray) -> FloatArray:
        """(A,) sums over each candidate's measurements of one number per measurement, values (n,)."""
        return np.bincount(self.numbers, weights=values, minlength=len(self.counts)).astype(np.float64)

    def repeats_differ(self) -> bool | None:
        """Whether any repeated measurement gave another value; None if nothing was repeated."""
        repeated = self.counts > 1
        if not repeated.any():
            return None
        A = len(self.counts)
        low, high = np.full(A, np.inf), np.full(A, -np.inf)
        np.minimum.at(low, self.numbers, self.values)
        np.maximum.at(high, self.numbers, self.values)
        return bool((high[repeated] > low[repeated]).any())


@dataclass(frozen=True, eq=False)
class Grouped:
    """Measurements in model units by distinct candidate."""

    X: FloatArray
    """(n, d)."""
    counts: FloatArray
    means: FloatArray
    within: float
    """Sum of squares around the means."""
    singles: SingleValues | None = None
    """The measurements one by one, if they have standard errors of their own."""

    def means_at(self, lam: float) -> FloatArray:
        """The average of each candidate, weighted by how precise its measurements are."""
        return self.means if self.singles is None else self.singles.means(lam, len(self.means))

    def noise_of_means(self, lam: float) -> FloatArray:
        """The variance of each average around the true value."""
        return lam / self.counts if self.singles is None else 1 / self.singles.precisions(lam, len(self.means))

    @classmethod
    def of(cls, X: FloatArray, counts: FloatArray, sums: FloatArray, squares: FloatArray) -> Self:
        """From the sums of values and of squared values of each row of X."""
        means = sums / counts
        within = float(np.maximum(squares - counts * means**2, 0.0).sum())
        return cls(np.ascontiguousarray(X), counts, means, within)


def grouped(X: FloatArray, observed: Observed, objective: ObjectiveTransform) -> Grouped:
    """The measurements in model units by distinct candidate, at most MOST_DISTINCT of them."""
    values = objective.to_model(observed.values)
    sums, squares = observed.sums(values), observed.sums(values**2)
    chosen = _evenly(np.flatnonzero(observed.counts))
    y = Grouped.of(in_float64(X[chosen]), observed.counts[chosen].astype(float), sums[chosen], squares[chosen])
    if observed.errors is None:
        return y
    row = np.full(len(observed.counts), -1)
    row[chosen] = np.arange(len(chosen))
    read = row[observed.numbers] >= 0
    variances = error_variances(observed, objective)
    return replace(y, singles=SingleValues(row[observed.numbers][read], values[read], variances[read]))


def error_variances(observed: Observed, objective: ObjectiveTransform) -> FloatArray:
    """(n,) the squared standard errors in model units: those of a step of one error to either side."""
    errors = np.zeros(observed.size) if observed.errors is None else observed.errors
    above, below = objective.to_model(observed.values + errors), objective.to_model(observed.values - errors)
    return np.asarray(((above - below) / 2) ** 2)


def _evenly(numbers: IndexArray) -> IndexArray:
    """At most MOST_DISTINCT of the numbers, evenly distributed."""
    if len(numbers) <= MOST_DISTINCT:
        return numbers
    return numbers[np.linspace(0, len(numbers) - 1, MOST_DISTINCT).astype(np.int64)]
