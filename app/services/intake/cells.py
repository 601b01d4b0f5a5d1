"""The cells of one column as they were read, before anybody decided what they mean."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from app.domain.candidates import Kind

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.int32]
Flaw: TypeAlias = tuple[str, str]
"""The rule that a text breaks: a stable code, and the rule and the fix in words."""

MISSING = ""
"""How a missing cell stands among texts; among numbers it is NaN."""


@dataclass(frozen=True)
class Numbers:
    """A column whose every cell is a number."""

    values: Floats


@dataclass(frozen=True)
class Texts:
    """A column of texts: each distinct text once, in order of first appearance, and per row which one."""

    levels: tuple[str, ...]
    codes: Codes

    def flawed(self, flaw: Callable[[str], Flaw | None]) -> dict[Flaw, npt.NDArray[np.int64]]:
        """The positions of the rows whose text breaks a rule, by rule; each distinct text is looked at once."""
        by_flaw: dict[Flaw, list[int]] = {}
        for code, level in enumerate(self.levels):
            if found := flaw(level):
                by_flaw.setdefault(found, []).append(code)
        return {found: self._rows_of(codes) for found, codes in by_flaw.items()}

    def counts(self) -> npt.NDArray[np.int64]:
        """How many rows hold each level."""
        return np.bincount(self.codes, minlength=len(self.levels))

    def _rows_of(self, codes: list[int]) -> npt.NDArray[np.int64]:
        chosen = np.zeros(len(self.levels), dtype=bool)
        chosen[codes] = True
        return np.flatnonzero(chosen[self.codes])


Cells: TypeAlias = Numbers | Texts


@dataclass(frozen=True)
class RawColumn:
    """A named column as read; `kind` is set where the file format itself says what the cells are."""

    name: str
    cells: Cells
    kind: Kind | None = None


class TextEncoder:
    """Gathers texts block by block into levels and codes."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._blocks: list[Codes] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the next rows."""
        codes = self._codes
        encoded = (codes.setdefault(cell, len(codes)) for cell in cells)
        self._blocks.append(np.fromiter(encoded, dtype="<i4", count=len(cells)))

    def texts(self) -> Texts:
        """Everything taken so far."""
        return Texts(tuple(self._codes), np.concatenate([np.empty(0, dtype="<i4"), *self._blocks]))


def encode(cells: Sequence[str]) -> Texts:
    """The texts of one whole column."""
    encoder = TextEncoder()
    encoder.add(cells)
    return encoder.texts()


def exact_numbers(cells: Sequence[str]) -> Floats | None:
    """The cells as numbers, correctly rounded, or None unless every one is a plain finite number.

    float() reads more than a table may hold: 1_000, digits of other scripts, nan and inf.
    """
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():
        return None
    try:
        values = np.fromiter(map(float, cells), dtype="<f8", count=len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def as_texts(numbers: Floats) -> Texts:
    """Numbers as a person would write them, for a key or a column declared as text."""
    return encode([_written(value) for value in numbers.tolist()])


def _written(value: float) -> str:
    if isnan(value):
        return MISSING
    return str(int(value)) if value.is_integer() else repr(value)
