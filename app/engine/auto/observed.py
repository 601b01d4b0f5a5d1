"""The measurements of a study, in the user's units."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from app.engine.arrays import Array, Numbers


@dataclass(frozen=True, eq=False)
class Observed:
    """Single measurements in the order of the ledger: candidate `numbers` (n,) and `values` (n,); `counts` (A,) of
    them."""

    counts: Numbers
    numbers: Numbers
    values: Array

    @classmethod
    def of(cls, candidates: int, numbers: ArrayLike, values: ArrayLike) -> Self:
        """Measurements of a list of that many candidates."""
        where, what = np.asarray(numbers, dtype=np.int64).ravel(), np.asarray(values, dtype=float).ravel()
        if where.shape != what.shape or not np.isfinite(what).all():
            raise ValueError("every measurement needs a candidate and a finite value")
        if len(where) and not 0 <= where.min() <= where.max() < candidates:
            raise ValueError(f"measurements of candidates beyond the {candidates} known ones")
        return cls(np.bincount(where, minlength=candidates).astype(np.int64), where, what)

    @property
    def size(self) -> int:
        """n, how many measurements."""
        return len(self.values)

    @property
    def distinct(self) -> int:
        """How many candidates were measured at least once."""
        return int(np.count_nonzero(self.counts))

    def sums(self, values: Array) -> Array:
        """(A,) sums over each candidate's measurements of something said of every single one, values (n,)."""
        return np.bincount(self.numbers, weights=values, minlength=len(self.counts)).astype(np.float64)
