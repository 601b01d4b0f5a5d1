"""What the server says of several objectives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .front_plot import front_html


@dataclass(frozen=True)
class FrontPoint:
    """A candidate of a front, with measured means or expected values by quantity."""

    key: str
    values: Mapping[str, float]
    measurements: int
    std: Mapping[str, float] = field(default_factory=dict)
    chance: float | None = None
    feasible: float | None = None


@dataclass(frozen=True)
class Front:
    """The best compromises between the objectives; `possible` candidates can still be among them."""

    measured: tuple[FrontPoint, ...]
    expected: tuple[FrontPoint, ...]
    hypervolume: float | None
    reference: Mapping[str, float]
    possible: int | None
    gap: float | None
    confidence: float | None
    estimate: bool
    words: str

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return front_html(self)


@dataclass(frozen=True)
class Quantity:
    """Something that a study measures; `direction` is None if only a constraint names it."""

    name: str
    unit: str
    direction: str | None
    measured: int


@dataclass(frozen=True)
class Volume:
    """The hypervolume of the front after an observation."""

    observation: int
    hypervolume: float


@dataclass(frozen=True)
class FrontCertificate:
    """With the given confidence, at most `possible` candidates can be on the front, and it can gain at most `gap`."""

    possible: int | None
    gap: float | None
    hypervolume: float | None
    confidence: float | None
    estimate: bool
