"""Whether a study's model is to be trusted, and what it has learnt of each column."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class LeftOut:
    """A measured candidate as all other results predict it; `lower` and `upper` hold its average with 95 %."""

    candidate: int
    observed: float  # average of its results
    predicted: float
    lower: float
    upper: float
    deviations: float  # between the two, in predicted standard deviations; positive if it is better than predicted


@dataclass(frozen=True)
class CalibrationPoint:
    """Of the intervals that should hold with the probability `says`, the share that does."""

    says: float
    covers: float


@dataclass(frozen=True)
class SlicePoint:
    """What the model says of the recommended candidate with another value in one column."""

    value: float | str
    mean: float
    lower: float
    upper: float


@dataclass(frozen=True)
class ColumnEffect:
    """What a column does: how much it matters, and how the objective follows it."""

    name: str
    importance: float  # 0: nothing changes without it; 1: it decides alone
    lengthscales: dict[str, float] = field(default_factory=dict)  # by level, or under the column's own name
    slice: tuple[SlicePoint, ...] = ()  # none for a fingerprint


@dataclass(frozen=True)
class Outlier:
    """A result that its neighbours contradict."""

    candidate: int
    deviations: float


@dataclass(frozen=True)
class Diagnoses:
    """All of it; the most important column first."""

    left_out: tuple[LeftOut, ...] = ()
    calibration: tuple[CalibrationPoint, ...] = ()
    columns: tuple[ColumnEffect, ...] = ()
    outliers: tuple[Outlier, ...] = ()
