"""Batches and their suggestions: what an ask requested, what it was answered, and why."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Self

from app.domain.predictions import BestPredicted, Fit

_WRITTEN_ID = re.compile(r"B?\s*([1-9][0-9]{0,8})(?:\s*[-‐‑–—−]\s*S?|\s*S)\s*([1-9][0-9]{0,8})", re.IGNORECASE)


class BatchState(StrEnum):
    OPEN = "open"  # at least one suggestion is pending
    CLOSED = "closed"


class SuggestionState(StrEnum):
    PENDING = "pending"
    OBSERVED = "observed"
    FAILED = "failed"
    ABANDONED = "abandoned"


class SuggestionId(NamedTuple):
    """A suggestion within its study, written `B3-S1`. Spreadsheet programs would turn `3-1` into a date."""

    batch: int
    rank: int

    def __str__(self) -> str:
        return f"B{self.batch}-S{self.rank}"

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The id that people wrote, also as `b3 s1` or `3-1`; None if it is not one."""
        match = _WRITTEN_ID.fullmatch(text.strip())
        return cls(int(match[1]), int(match[2])) if match else None


@dataclass(frozen=True)
class Inclusion:
    """A candidate that must be in the batch, and how often it is to be measured."""

    candidate: int
    replicates: int = 1


@dataclass(frozen=True)
class Composition:
    """What the members of a batch must have in common, or how they must differ."""

    same: tuple[str, ...] = ()  # columns with one value in the whole batch
    at_most: Mapping[str, int] = field(default_factory=dict)  # column → distinct values in the batch
    per: Mapping[str, int] = field(default_factory=dict)  # column → candidates with the same value
    wells: int | None = None


@dataclass(frozen=True)
class AskRequest:
    """Who asks, and for what."""

    worker: str
    min_size: int | None = None
    max_size: int | None = None
    where: tuple[str, ...] = ()
    include: tuple[Inclusion, ...] = ()
    exclude: tuple[int, ...] = ()
    composition: Composition | None = None
    budget: float | None = None  # what the measurements may cost in all
    time: float | None = None  # how long they may take in all
    confirm: int | None = None  # how often each of the best few is to be measured, before one is recommended


@dataclass(frozen=True)
class BatchSize:
    """The number of measurements that was computed for: the request within the study's limits."""

    least: int
    most: int


@dataclass(frozen=True)
class Neighbour:
    """A measured candidate, and how alike the kernel finds it: 1 is equal, 0 is unrelated."""

    candidate: int
    similarity: float


@dataclass(frozen=True)
class Expectation:
    """What the model of one quantity expects of a candidate, and the optimistic value."""

    mean: float
    std: float
    ucb: float


@dataclass(frozen=True)
class Explanation:
    """Why a candidate was suggested. The numbers are None before anything has been measured.

    Where a study has several quantities, the numbers are those of its first objective.
    """

    words: str
    exploration: float  # share of the choice that is owed to uncertainty
    mean: float | None = None
    std: float | None = None
    ucb: float | None = None
    gain: float | None = None  # expected improvement over the best measured candidate
    nearest: tuple[Neighbour, ...] = ()
    quantities: Mapping[str, Expectation] = field(default_factory=dict)  # of several, by name
    feasible: float | None = None  # chance that all constraints are met
    success: float | None = None  # chance that the measurement gives a value


@dataclass(frozen=True)
class BatchRecord:
    """What the engine says about a batch: why it ended, the bounds it reached, the model it used."""

    ended: str
    guaranteed: bool
    alpha: float
    beta: float
    dictionary: int
    effective_dimension: float
    ratio_bound: float | None = None  # a baseline has none
    regret_bound: float | None = None
    degraded: Mapping[str, int] = field(default_factory=dict)  # numerical rescues
    fit: Fit | None = None  # auto mode
    best: BestPredicted | None = None
    prices: Mapping[str, float] = field(default_factory=dict)
    """What each term of the request costs: how much more the batch would promise without it, in the user's unit."""
    size_words: str | None = None  # why it has its size (auto mode)
    fits: Mapping[str, Fit] = field(default_factory=dict)  # auto mode with several quantities, by name


@dataclass(frozen=True)
class Computation:
    """How a batch was computed. A replay compares everything but `seconds`."""

    build: str  # program, libraries and kind of machine: results are equal to the last bit within one build
    seconds: float
    shards: tuple[int, ...] = ()  # first candidate of each shard; empty if the list was one array


@dataclass(frozen=True)
class DraftSuggestion:
    """A chosen candidate, how many measurements of it are requested, and why."""

    candidate: int
    replicates: int
    why: Explanation


@dataclass(frozen=True)
class Draft:
    """A batch that has been computed and not yet issued."""

    suggestions: tuple[DraftSuggestion, ...]
    record: BatchRecord
    computation: Computation


@dataclass(frozen=True)
class Suggestion:
    """One candidate of an issued batch."""

    id: SuggestionId
    candidate: int
    replicates: int
    state: SuggestionState
    why: Explanation


@dataclass(frozen=True)
class Batch:
    """An issued batch; `basis_seq` is the last event that its computation knew."""

    number: int
    worker: str
    state: BatchState
    size: int
    basis_seq: int
    seq: int
    record: BatchRecord
    computation: Computation
    created_at: str
