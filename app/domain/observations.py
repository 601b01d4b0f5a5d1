"""Observations: what was measured. They are corrected or retracted, never overwritten."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from app.domain.batches import SuggestionId


@dataclass(frozen=True, slots=True)
class Measured:
    """The measured value of one quantity and, where it is known, the standard error of that value."""

    value: float
    std: float | None = None


Outcome: TypeAlias = Mapping[str, Measured]
"""What one measurement gave, by the name of the quantity; some quantities may come later, or never."""

SOLE = ""
"""The name that a report gives to the value of a study's only quantity."""


class ObservationKind(StrEnum):
    RECORDED = "recorded"
    RETRACTED = "retracted"


@dataclass(frozen=True)
class Observation:
    """One version of what one measurement of one candidate gave."""

    number: int
    version: int
    current: bool
    kind: ObservationKind
    candidate: int
    values: Outcome
    actor: str
    recorded_at: str
    seq: int
    suggestion: SuggestionId | None = None
    replicate: int | None = None
    ref: str | None = None
    measured_at: str | None = None
    measured_by: str | None = None
    note: str | None = None
    reason: str | None = None  # of the correction or retraction

    @property
    def state(self) -> str:
        return str(self.kind) if self.current else "superseded"


@dataclass(frozen=True, slots=True)
class ReportedObservation:
    """One measurement: the values it gave, by the name of the quantity. `suggestion` is None if nobody asked for it."""

    observation: int
    candidate: int
    values: Mapping[str, Measured]
    suggestion: SuggestionId | None = None
    replicate: int | None = None
    ref: str | None = None
    measured_at: str | None = None
    measured_by: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class Failure:
    """A measurement that gave no value. Without `retry` it counts against the candidate, which is switched off."""

    reason: str
    retry: bool = True


@dataclass(frozen=True)
class Report:
    """What a lab sends about one suggestion, or about one candidate named by its key; a sheet may name both."""

    suggestion: SuggestionId | None = None
    candidate: str | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)  # cells of the study's own columns, as written
    mangled: bool = False  # the suggestion's id had become a date, so the key stands in for it
    outcomes: tuple[Outcome, ...] = ()  # one per measurement
    replicate: int | None = None  # which of the requested replicates the first outcome is
    failed: Failure | None = None
    abandoned: str | None = None  # why
    measured_at: str | None = None
    measured_by: str | None = None
    note: str | None = None
    ref: str | None = None  # the lab's own number of the measurement
    row: int | None = None  # of the sheet it came in
    pointer: str | None = None  # to its place in the list of a JSON document


@dataclass(frozen=True)
class ReportColumns(Sequence[Report]):
    """Reports of a key and a value each, as columns: a call may bring a hundred thousand. Each is made when needed."""

    keys: Sequence[str]
    values: Sequence[float]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, place: Any) -> Any:
        outcome = {SOLE: Measured(self.values[place])}
        return Report(candidate=self.keys[place], outcomes=(outcome,), pointer=f"/observations/{place}")


def keys_of(reports: Sequence[Report]) -> set[str]:
    """The candidates that reports name."""
    if isinstance(reports, ReportColumns):
        return set(reports.keys)
    return {report.candidate for report in reports if report.candidate is not None}


@dataclass(frozen=True)
class PlainObservations(Sequence[ReportedObservation]):
    """What becomes of such reports: observations of one quantity, numbered from `first` on, that nobody asked for."""

    first: int
    quantity: str
    candidates: Sequence[int]
    values: Sequence[float]

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, place: Any) -> Any:
        outcome = {self.quantity: Measured(self.values[place])}
        return ReportedObservation(self.first + range(len(self))[place], self.candidates[place], outcome)

    def part(self, start: int, size: int) -> "PlainObservations":
        stop = start + size
        return PlainObservations(
            self.first + start, self.quantity, self.candidates[start:stop], self.values[start:stop]
        )
