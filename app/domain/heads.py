"""Heads: the last entry of a ledger at some moment. Its hash stands for everything before it.

Kept outside the database, a head tells whether the ledger still has all that it had: a tail that was cut off looks
sound from within.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class Head:
    study: str
    seq: int
    hash: str


class HeadState(StrEnum):
    KEPT = "kept"
    CUT = "cut"  # the ledger ends before it
    REWRITTEN = "rewritten"  # another entry has its number
    MISSING = "missing"  # there is no such study


@dataclass(frozen=True)
class HeadCheck:
    """What became of a head; `ends_at` is the number of the last entry that the ledger has now."""

    head: Head
    state: HeadState
    ends_at: int

    def __str__(self) -> str:
        what, seq = self.head.study, self.head.seq
        words: dict[HeadState, Callable[[], str]] = {
            HeadState.KEPT: lambda: f"{what} has event {seq} unaltered.",
            HeadState.CUT: lambda: f"{what} ends at event {self.ends_at}, but had {seq}: {seq - self.ends_at} lost.",
            HeadState.REWRITTEN: lambda: f"{what} has another event {seq} than it had.",
            HeadState.MISSING: lambda: f"{what} does not exist, but had {seq} events.",
        }
        return words[self.state]()
