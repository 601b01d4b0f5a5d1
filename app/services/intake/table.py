"""The value that every way of uploading candidates ends in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.domain.candidates import Column
from app.domain.findings import Finding
from app.services.intake.cells import Codes, Floats

Attribute: TypeAlias = float | bool | str | None


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """A checked set of candidates, ready to be stored."""

    columns: tuple[Column, ...]
    """In upload order."""
    numbers: Floats
    """(rows, number and boolean features), float64, C order; booleans as 0.0 and 1.0."""
    codes: Codes
    """(rows, text features), int32 indexes into the levels of each."""
    keys: Sequence[str] | None
    """None: the keys are the row numbers "1", "2", …"""
    attributes: Mapping[str, Sequence[Attribute]]
    """Carried along and shown, not modelled; None where missing."""
    warnings: tuple[Finding, ...]
    first_row: int
    """The row number, as the uploader counts, of the first candidate."""

    def __len__(self) -> int:
        return len(self.numbers)
