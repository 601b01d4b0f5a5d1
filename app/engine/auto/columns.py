"""Columns: what the user's table holds, how numbers are scaled, and what the columns of the features X mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from app.arrays import FloatArray

FeatureKind = Literal["number", "boolean", "text"]
FeatureRole = Literal["number", "level", "bit", "count", "borrowed"]
"""What an encoded column is: a number, a level of a text, a bit of a fingerprint, a count in a molecule's, or what an
earlier study expects."""

Scale = Literal["auto", "linear", "log", "none"]
LevelCodes = NDArray[np.int32]
"""Texts as positions in the levels of their columns."""

BORROWED_SCALE = 0.01
"""What an earlier study expects, standardised, is multiplied by this to be a column of X."""

DECADES = 50.0
"""A positive column whose largest value is at least this many times its smallest is read in its logarithm."""

OUTSIDE = 1e6
"""Later candidates far outside the learnt range are clipped here (in units of the range): features stay finite."""


@dataclass(frozen=True)
class FeatureColumn:
    """One raw column; `levels` are the words of a text column, whose codes are their positions."""

    name: str
    kind: FeatureKind
    levels: tuple[str, ...] = ()
    is_molecule: bool = False
    """Whether every level has a fingerprint, a row of counts."""


@dataclass(frozen=True)
class Override:
    """What the user decides about one column of numbers instead of auto mode."""

    scale: Scale = "auto"
    """linear or log: to [0, 1] over all candidates; none: the number as it is."""

    def __post_init__(self) -> None:
        if self.scale not in ("auto", "linear", "log", "none"):
            raise ValueError(f"unknown scale {self.scale!r}: auto, linear, log or none")

    @classmethod
    def build(cls, description: "Override | dict[str, Any]") -> Self:
        """From plain JSON such as {"scale": "log"}."""
        fields = description.__dict__ if isinstance(description, Override) else description
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError(f"an override cannot be built from {description}: {error}") from error


@dataclass(frozen=True)
class Scaling:
    """A column of numbers to about [0, 1]: u = (v − low)/(high − low), or the same of log v.

    Beyond the learnt range it goes on linearly. A logarithm cannot go on below zero: there, and wherever u < −1, u = −1
    (a whole range below the smallest learnt value).
    """

    kind: Literal["linear", "log", "none"]
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def learn(cls, values: FloatArray, scale: Scale = "auto") -> Self:
        """The scaling of a column that is not constant, values (A,)."""
        low, high = float(values.min()), float(values.max())
        if scale == "log" and low <= 0:
            raise ValueError(f"a logarithm needs positive values, the smallest is {low}")
        if scale == "auto":
            scale = "log" if low > 0 and high / DECADES >= low else "linear"
        return cls(scale, low, high)

    def apply(self, values: FloatArray) -> FloatArray:
        """Values (n,) to features (n,), finite for every finite value."""
        if self.kind == "none":
            return np.clip(values, -OUTSIDE, OUTSIDE)
        if self.kind == "log":
            low, high = np.log(self.low), np.log(self.high)
            with np.errstate(divide="ignore"):
                u: FloatArray = (np.log(np.maximum(values, 0.0)) - low) / (high - low)
            return np.clip(u, -1.0, OUTSIDE)
        # The difference of two large numbers may overflow, so their halves are used; halves of subnormal numbers
        # would lose their last bit.
        share = 0.5 if max(-self.low, self.high) > 1 else 1.0
        with np.errstate(over="ignore"):
            u = (values * share - self.low * share) / (self.high * share - self.low * share)
        return np.clip(u, -OUTSIDE, OUTSIDE)

    def describe(self) -> dict[str, Any]:
        """Plain JSON; Scaling(**description) is the inverse."""
        return dict(self.__dict__)


@dataclass(frozen=True)
class Layout:
    """For every encoded column: what it is, and which raw column it came from. This decides the kernel."""

    roles: tuple[FeatureRole, ...]
    sources: tuple[int, ...]

    @classmethod
    def of_numbers(cls, d: int) -> "Layout":
        """d columns of numbers."""
        number: FeatureRole = "number"
        return cls((number,) * d, tuple(range(d)))

    @property
    def bits(self) -> tuple[int, ...]:
        """The columns of a fingerprint."""
        return tuple(q for q, role in enumerate(self.roles) if role == "bit")

    @property
    def others(self) -> tuple[int, ...]:
        """All columns that belong to no fingerprint."""
        return tuple(q for q, role in enumerate(self.roles) if role not in ("bit", "count", "borrowed"))

    @property
    def borrowed(self) -> tuple[int, ...]:
        """The columns with what earlier studies expect."""
        return tuple(q for q, role in enumerate(self.roles) if role == "borrowed")

    def with_borrowed(self, count: int) -> "Layout":
        """With so many columns of earlier studies at the end."""
        borrowed: FeatureRole = "borrowed"
        return Layout(self.roles + (borrowed,) * count, self.sources + (-1,) * count)

    def only(self, columns: Sequence[int]) -> "Layout":
        """The layout of some of the columns."""
        return Layout(tuple(self.roles[q] for q in columns), tuple(self.sources[q] for q in columns))

    @property
    def texts(self) -> tuple[tuple[int, ...], ...]:
        """The columns of every text."""
        return self._groups("level")

    @property
    def molecules(self) -> tuple[tuple[int, ...], ...]:
        """The columns of every molecule."""
        return self._groups("count")

    def _groups(self, wanted: FeatureRole) -> tuple[tuple[int, ...], ...]:
        """The columns of one role, by the raw column that they came from."""
        columns: dict[int, list[int]] = {}
        for q, (role, source) in enumerate(zip(self.roles, self.sources, strict=True)):
            if role == wanted:
                columns.setdefault(source, []).append(q)
        return tuple(map(tuple, columns.values()))
