"""Why a candidate is suggested, and batches as they would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = float | bool | str | None


@dataclass(frozen=True)
class Neighbour:
    """A measured candidate and its similarity, from 0 to 1."""

    key: str
    similarity: float


@dataclass(frozen=True)
class Why:
    """Why a candidate was chosen, in numbers and in `words`."""

    mean: float | None
    std: float | None
    ucb: float | None
    exploration: float
    gain: float | None
    nearest: tuple[Neighbour, ...]
    words: str
    quantities: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    feasible: float | None = None
    success: float | None = None


@dataclass(frozen=True)
class PreviewedSuggestion:
    """A candidate that a batch would have."""

    key: str
    replicates: int
    features: Mapping[str, Value]
    attributes: Mapping[str, Value]
    why: Why
    cost: float | None = None
    duration: float | None = None


@dataclass(frozen=True)
class Preview:
    """A batch as it would be. `prices` says what each term costs: how much more it is expected to find without it.

    With several objectives a price is a share of the hypervolume. `price_words` says it in words, and `size_words`
    why the batch has its size (auto mode).
    """

    preview: str
    size: int
    ended: str
    guaranteed: bool
    prices: Mapping[str, float]
    suggestions: tuple[PreviewedSuggestion, ...]
    cost: float | None = None
    duration: float | None = None
    price_words: Mapping[str, str] = field(default_factory=dict)
    size_words: str | None = None
