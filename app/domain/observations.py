"""Observations: measured values, corrected or retracted, never overwritten."""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    RECORDED = "recorded"
    RETRACTED = "retracted"


@dataclass(frozen=True)
class Observation:
    """One version of one measured value."""

    number: int
    version: int
    current: bool
    kind: Kind
    candidate: int
    value: float
    actor: str
    recorded_at: str
    seq: int
    batch: int | None = None
    rank: int | None = None
    replicate: int | None = None
    ref: str | None = None
    measured_at: str | None = None
    measured_by: str | None = None
    note: str | None = None
    reason: str | None = None

    @property
    def state(self) -> str:
        return str(self.kind) if self.current else "superseded"
