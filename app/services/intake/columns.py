"""Gives every column its kind, and checks each cell against it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.domain.candidates import Column, Kind, Role
from app.services.intake.cells import MISSING, Cells, Flaw, Numbers, RawColumn, Texts, as_texts
from app.services.intake.findings import Findings
from app.services.intake.kinds import infer_kind
from app.services.intake.limits import Limits
from app.services.intake.looks import Looks, look, number, truth

_BROKEN = re.compile(r"[\x00\ud800-\udfff]")
_MISSING = ("missing-value", "a feature must have a value in every row; fill it in, or make the column an attribute")
_NOT_BOOLEAN = ("not-a-boolean", "not a boolean; write true or false")
_NOT_NUMBERS = {
    Looks.NOT_FINITE: ("not-finite", "not a finite number; give a number that a double can hold"),
    Looks.DECIMAL_COMMA: (
        "decimal-comma",
        "decimal comma in doubt: write a point as the decimal sign and no thousands separators,"
        " or declare the column as text",
    ),
}
_NOT_A_NUMBER = ("not-a-number", "not a number, though the column is one; correct it, or declare the column as text")


@dataclass(frozen=True)
class TypedColumn:
    """A column and its checked cells: texts for text, numbers for the rest (booleans as 0 and 1)."""

    column: Column
    cells: Cells


class ColumnCheck:
    """Checks the columns of one upload and notes what it finds."""

    def __init__(self, first_row: int, limits: Limits, findings: Findings) -> None:
        self._first_row = first_row
        self._limits = limits
        self._findings = findings

    def typed(self, raw: RawColumn, role: Role, declared: Kind | None) -> TypedColumn:
        """The column with its kind: as declared, as the format says, or as the cells look."""
        if isinstance(raw.cells, Numbers) and declared != "text":
            return self._from_numbers(raw.name, raw.cells, role, declared or raw.kind or "number")
        texts = as_texts(raw.cells.values) if isinstance(raw.cells, Numbers) else raw.cells
        kind = declared or raw.kind or infer_kind(texts, raw.name, self._findings)
        return self._from_texts(raw.name, texts, role, kind)

    def _from_numbers(self, name: str, cells: Numbers, role: Role, kind: Kind) -> TypedColumn:
        if kind == "boolean":
            neither = (cells.values != 0.0) & (cells.values != 1.0) & ~np.isnan(cells.values)
            self._error(_NOT_BOOLEAN, np.flatnonzero(neither), name)
        if role == "feature":
            self._error(_MISSING, np.flatnonzero(np.isnan(cells.values)), name)
        return TypedColumn(Column(name, kind, role), cells)

    def _from_texts(self, name: str, texts: Texts, role: Role, kind: Kind) -> TypedColumn:
        if role == "feature":
            self._each_level(texts, name, lambda level: _MISSING if not level.strip() else None)
        if kind == "text":
            return self._text(name, texts, role)
        flaw, convert = (_number_flaw, number) if kind == "number" else (_boolean_flaw, truth)
        self._each_level(texts, name, flaw)
        by_level = np.fromiter(map(convert, texts.levels), dtype="<f8", count=len(texts.levels))
        return TypedColumn(Column(name, kind, role), Numbers(by_level[texts.codes]))

    def _text(self, name: str, texts: Texts, role: Role) -> TypedColumn:
        self._each_level(texts, name, lambda level: text_flaw(level, self._limits))
        if role == "attribute":
            return TypedColumn(Column(name, "text", role), texts)
        if len(texts.levels) > self._limits.levels:
            self._findings.error(
                "too-many-levels",
                f"{len(texts.levels)} distinct texts; the limit for a feature is {self._limits.levels}."
                " Make the column the key or an attribute",
                column=name,
            )
        return TypedColumn(Column(name, "text", role, texts.levels), texts)

    def _each_level(self, texts: Texts, name: str, flaw: Callable[[str], Flaw | None]) -> None:
        for found, rows in texts.flawed(flaw).items():
            self._error(found, rows, name)

    def _error(self, flaw: Flaw, rows: npt.NDArray[np.int64], name: str) -> None:
        self._findings.errors_in_rows(*flaw, rows + self._first_row, name)


def text_flaw(level: str, limits: Limits) -> Flaw | None:
    """The rule that a text breaks, as code and message, if any."""
    if len(level) > limits.cell_length:
        return "cell-too-long", f"longer than {limits.cell_length} characters; shorten it"
    if _BROKEN.search(level):
        return "broken-text", "holds a NUL or a lone surrogate; remove it"
    return None


def _number_flaw(level: str) -> Flaw | None:
    seen = look(level)
    return None if seen in (Looks.NUMBER, Looks.MISSING) else _NOT_NUMBERS.get(seen, _NOT_A_NUMBER)


def _boolean_flaw(level: str) -> Flaw | None:
    return _NOT_BOOLEAN if level.strip() != MISSING and np.isnan(truth(level)) else None
