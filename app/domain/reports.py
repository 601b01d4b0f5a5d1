"""What a lab reports: measured values, and what could not be measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """A measurement that gave no value; without `retry` the candidate is not suggested again."""

    reason: str
    retry: bool = True


@dataclass(frozen=True)
class Report:
    """One thing reported, about a suggestion (batch, rank) or about a candidate named by its key."""

    suggestion: tuple[int, int] | None = None
    candidate: str | None = None
    values: tuple[float, ...] = ()
    replicate: int | None = None  # which of the wanted replicates the first value is
    failed: Failure | None = None
    abandoned: str | None = None  # why
    measured_at: str | None = None
    measured_by: str | None = None
    note: str | None = None
    ref: str | None = None  # the lab's own number of the measurement
    row: int | None = None  # of the sheet it came in
