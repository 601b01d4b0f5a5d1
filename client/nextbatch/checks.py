"""What checks found: of a ledger, of heads that were kept elsewhere, of a batch that was computed again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """A row that is not what the ledger says, or an array that is damaged."""

    table: str
    row: str
    what: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        altered = f" ({', '.join(self.columns)})" if self.columns else ""
        return f"{self.table}: {self.row} is {self.what}{altered}"


@dataclass(frozen=True)
class Verified:
    """Whether every hash of the ledger is correct, and everything else is what the ledger says."""

    sound: bool
    events: int
    broken_at: int | None
    head: str
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class HeadCheck:
    """What became of the head that a ledger had: kept, cut, rewritten or missing."""

    study: str
    seq: int
    state: str
    ends_at: int
    words: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class HeadsChecked:
    """Whether every ledger still has all that it had when the heads were signed."""

    kept: bool
    signature: str
    checks: tuple[HeadCheck, ...]


@dataclass(frozen=True)
class Replayed:
    """Whether a recomputed batch is identical, bit for bit."""

    number: int
    equal: bool
    recorded_build: str
    this_build: str
    differences: tuple[str, ...]
