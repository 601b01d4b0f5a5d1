"""Whether to trust the model of a study, and what it has learnt of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LeftOut:
    """A measured candidate as all other results predict it; `lower` to `upper` holds 95 %."""

    key: str
    observed: float
    predicted: float
    lower: float
    upper: float
    deviations: float


@dataclass(frozen=True)
class CalibrationPoint:
    """The share of the results inside the intervals that say they hold this share."""

    says: float
    covers: float


@dataclass(frozen=True)
class SlicePoint:
    """What is expected of the recommended candidate with this value in one column."""

    value: float | str
    mean: float
    lower: float
    upper: float


@dataclass(frozen=True)
class ColumnEffect:
    """How much a column matters (0: not at all; 1: it decides alone), and how."""

    name: str
    importance: float
    lengthscales: Mapping[str, float]
    slice: tuple[SlicePoint, ...]


@dataclass(frozen=True)
class Outlier:
    """A result far from what the others say."""

    key: str
    deviations: float
    words: str


@dataclass(frozen=True)
class Diagnostics:
    """Empty until something is measured, and in a study with a theory of its own."""

    leave_one_out: tuple[LeftOut, ...]
    calibration: tuple[CalibrationPoint, ...]
    columns: tuple[ColumnEffect, ...]
    outliers: tuple[Outlier, ...]

    def __str__(self) -> str:
        matters = ", ".join(f"{column.name} {column.importance:.2f}" for column in self.columns)
        lines = [f"What matters: {matters}."] if matters else ["Nothing has been learnt yet."]
        return "\n".join([*lines, *(outlier.words for outlier in self.outliers)])
