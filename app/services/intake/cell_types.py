"""What the cells of a column are: numbers, booleans, texts, or missing.

A reader hands over each column as a `RawColumn`. `cell_type` says what one text cell looks like, and `infer_kind` says
what a whole column is when neither the caller nor the file format does.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite, isnan, nan
from typing import NamedTuple, TypeAlias

import numpy as np

from app.arrays import CodeArray, FloatArray, IndexArray
from app.domain.candidates import ColumnKind
from app.services.intake.findings import Findings

MISSING = ""
"""A missing cell among texts; among numbers it is NaN."""
INEXACT_INTEGER = 1 << 53
"""From here on, not every integer has a double of its own."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LOCAL_NUMBER = re.compile(
    r"[+−–-]?(?:[1-9][0-9]{0,2}(?:[ .,'’\xa0\u202f\u2009][0-9]{3})+|[0-9]+)(?:[.,][0-9]*)?(?:[eE][+−–-]?[0-9]+)?"
)
_WITH_UNIT = re.compile(r"[+−–-]?[0-9]+(?:[.,][0-9]+)?\s*([^\s0-9.,;:_-][^\s0-9]{0,9})")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_BOOLEANS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_DECLARED_BOOLEANS = {**_BOOLEANS, "1": 1.0, "0": 0.0}
_NUMBERS_WITH_TYPOS = 0.9
"""Above this share of numbers, a cell that is no number is taken for a typing error."""


class CellType(IntEnum):
    """What one text cell looks like."""

    MISSING = 0
    NUMBER = 1
    NOT_FINITE = 2
    LOCAL_NUMBER = 3  # with a decimal comma, thousands separators or a typographic minus: 1 234,5
    BOOLEAN = 4
    TEXT = 5


class Flaw(NamedTuple):
    """A rule that a cell breaks: its stable code, and what to write instead."""

    code: str
    message: str


NOT_FINITE = Flaw(
    "not-finite", "Write a finite number such as 83.1. NaN, infinity and numbers beyond ±1.8e308 are not accepted."
)
NOT_EXACT = Flaw("not-exact", "Integers of 2^53 (about 9e15) or more cannot be stored exactly. Scale the column down.")


@dataclass(frozen=True)
class NumberCells:
    """A column in which every cell is a number, or NaN where it is missing."""

    values: FloatArray


@dataclass(frozen=True)
class TextCells:
    """A column of texts: the distinct texts in order of first appearance, and one code per row."""

    levels: tuple[str, ...]
    codes: CodeArray

    def rows_by_flaw(self, flaw_of: Callable[[str], Flaw | None]) -> dict[Flaw, IndexArray]:
        """The positions of the flawed rows, grouped by flaw; `flaw_of` sees each distinct text once."""
        codes_by_flaw: dict[Flaw, list[int]] = {}
        for code, level in enumerate(self.levels):
            if flaw := flaw_of(level):
                codes_by_flaw.setdefault(flaw, []).append(code)
        return {flaw: self._rows_of(codes) for flaw, codes in codes_by_flaw.items()}

    def counts(self) -> IndexArray:
        """How many rows hold each level."""
        return np.bincount(self.codes, minlength=len(self.levels))

    def _rows_of(self, codes: list[int]) -> IndexArray:
        chosen = np.zeros(len(self.levels), dtype=bool)
        chosen[codes] = True
        return np.flatnonzero(chosen[self.codes])


Cells: TypeAlias = NumberCells | TextCells


@dataclass(frozen=True)
class RawColumn:
    """A named column as it was read; `kind` is set if the file format states it."""

    name: str
    cells: Cells
    kind: ColumnKind | None = None
    decimal_comma: bool = False
    """Whether the file is of a kind in which 1,234 is a fraction: CSV with semicolons."""


class TextEncoder:
    """Collects texts block by block into levels and codes."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._blocks: list[CodeArray] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the next rows."""
        codes = self._codes
        encoded = (codes.setdefault(cell, len(codes)) for cell in cells)
        self._blocks.append(np.fromiter(encoded, dtype="<i4", count=len(cells)))

    def cells(self) -> TextCells:
        """All rows taken so far."""
        return TextCells(tuple(self._codes), np.concatenate([np.empty(0, dtype="<i4"), *self._blocks]))


def encode_texts(cells: Sequence[str]) -> TextCells:
    """The texts of one whole column."""
    encoder = TextEncoder()
    encoder.add(cells)
    return encoder.cells()


def as_texts(cells: Cells) -> TextCells:
    """The cells as texts, numbers as a person would write them: for a key or a column declared as text."""
    if isinstance(cells, TextCells):
        return cells
    return encode_texts([_number_text(value) for value in cells.values.tolist()])


def exact_numbers(cells: Sequence[str]) -> FloatArray | None:
    """The cells as correctly rounded numbers, or None unless every cell is a plain finite number.

    float() alone would accept more than a table may hold: 1_000, digits of other scripts, nan and inf.
    """
    joined = "".join(cells)
    if "_" in joined or not joined.isascii():
        return None
    try:
        values = np.fromiter(map(float, cells), dtype="<f8", count=len(cells))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def cell_type(cell: str) -> CellType:
    """Classify one cell, ignoring spaces around it."""
    text = cell.strip()
    if not text:
        return CellType.MISSING
    if _NUMBER.fullmatch(text):
        return CellType.NUMBER if isfinite(float(text)) else CellType.NOT_FINITE
    if _NOT_FINITE.fullmatch(text):
        return CellType.NOT_FINITE
    if _LOCAL_NUMBER.fullmatch(text):
        return CellType.LOCAL_NUMBER
    return CellType.BOOLEAN if text.lower() in _BOOLEANS else CellType.TEXT


def parse_number(cell: str) -> float:
    """The finite number in a cell, or NaN."""
    return float(cell) if cell_type(cell) is CellType.NUMBER else nan


def parse_boolean(cell: str) -> float:
    """1.0 or 0.0 for a cell of a boolean column, in which 1 and 0 are accepted too, or NaN."""
    return _DECLARED_BOOLEANS.get(cell.strip().lower(), nan)


def infer_kind(texts: TextCells, name: str, findings: Findings) -> ColumnKind:
    """Boolean if every cell is one, number if nearly every cell is meant as one, text otherwise.

    A text column may well contain some numbers (grades, codes), so that is only a warning.
    """
    rows = _rows_by_type(texts)
    present = len(texts.codes) - rows[CellType.MISSING]
    meant_as_numbers = rows[CellType.NUMBER] + rows[CellType.NOT_FINITE] + rows[CellType.LOCAL_NUMBER]
    if present and rows[CellType.BOOLEAN] == present:
        return "boolean"
    if meant_as_numbers > _NUMBERS_WITH_TYPOS * present:
        return "number"
    if _have_one_unit(texts.levels):
        findings.warning(
            "numbers-with-unit",
            "The cells look like numbers with a unit, but are read as texts: 20 °C is then no closer to 30 °C than to"
            " 90 °C. If they are numbers, write the unit in the header and the numbers alone in the cells.",
            column=name,
        )
    if meant_as_numbers:
        findings.warning(
            "mixed-types",
            f"Some cells ({meant_as_numbers:,} of {present:,}) look like numbers, but the column is read as text."
            " If it should hold numbers, correct the other cells.",
            column=name,
        )
    return "text"


def _have_one_unit(levels: Sequence[str]) -> bool:
    """Whether every cell is a number and the same unit."""
    matches = [_WITH_UNIT.fullmatch(level.strip()) for level in levels if level.strip()]
    return len(matches) > 1 and len({match[1] if match else None for match in matches} - {None}) == 1 and all(matches)


def _rows_by_type(texts: TextCells) -> list[int]:
    """How many rows hold each type of cell."""
    types = np.array([cell_type(level) for level in texts.levels], dtype=np.int64)
    rows: list[int] = np.bincount(types, weights=texts.counts(), minlength=len(CellType)).astype(np.int64).tolist()
    return rows


def _number_text(value: float) -> str:
    if isnan(value):
        return MISSING
    return str(int(value)) if value.is_integer() else repr(value)
