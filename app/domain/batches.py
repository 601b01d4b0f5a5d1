"""Batches and their suggestions: what an ask was answered."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class BatchState(StrEnum):
    OPEN = "open"  # something in it is still to be measured
    CLOSED = "closed"


class SuggestionState(StrEnum):
    PENDING = "pending"
    OBSERVED = "observed"
    FAILED = "failed"
    ABANDONED = "abandoned"


@dataclass(frozen=True)
class Suggestion:
    """One candidate of a batch; `record` is why it was chosen, in numbers."""

    batch: int
    rank: int
    candidate: int
    replicates: int
    state: SuggestionState
    record: dict[str, Any]

    @property
    def id(self) -> str:
        return f"{self.batch}-{self.rank}"


@dataclass(frozen=True)
class Batch:
    """`record` is what the engine said about it: why it ended, the bound it reached, the model it used."""

    number: int
    worker: str
    state: BatchState
    size: int
    basis_seq: int
    seq: int
    record: dict[str, Any]
    created_at: str
