"""Where the knowledge of a study comes from, if not from its own results alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class ForkedFrom:
    """The study that a fork began as, and the last event that both have in common."""

    study: str
    at: int


@dataclass(frozen=True)
class Borrowed:
    """Results of an earlier study that count as hints; `words` says how much they do."""

    study: str
    seq: int
    head: str
    results: int
    columns: tuple[str, ...]
    """The columns that both studies have."""
    missing: tuple[str, ...]
    """The columns of this study that the earlier one lacks."""
    words: str
    importance: float | None = None
    """How much of what is expected depends on it, from 0 to 1; None until something is measured."""
    usable: int | None = None
    """Those of the results that can be used: molecules that are not in this study's list cannot."""


@dataclass(frozen=True)
class DeletedStudy:
    """A study that can be restored until `erased_at`, by its `address`."""

    name: str
    address: str
    deleted_at: datetime
    deleted_by: str
    erased_at: datetime
    reason: str | None = None
