"""The columns of an upload: their names, what the caller declares about them, and the check of their cells."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Self

import numpy as np

from app.arrays import Array, BoolArray, IndexArray
from app.domain.candidates import Column, ColumnKind, ColumnRole, Expense
from app.domain.limits import MOST_EXPENSE
from app.services.intake.cell_types import (
    MISSING,
    NOT_FINITE,
    Cells,
    CellType,
    Flaw,
    NumberCells,
    RawColumn,
    TextCells,
    as_texts,
    cell_type,
    infer_kind,
    parse_boolean,
)
from app.services.intake.findings import Findings
from app.services.intake.limits import IntakeLimits
from app.services.intake.measured_values import AMBIGUOUS, MIXED, read_levels

DEFAULT_KEY = "key"

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
_BROKEN = re.compile(r"[\x00\ud800-\udfff]")
_SHOWN_LENGTH = 200
_MISSING_VALUE = Flaw(
    "missing-value", "A feature needs a value in every row. Fill in this cell, or declare the column as an attribute."
)
_MISSING_EXPENSE = Flaw(
    "missing-expense", "Every candidate needs a cost or duration here. Fill in this cell; write 0 if it takes nothing."
)
EXPENSE_OUT_OF_RANGE = Flaw(
    "expense-out-of-range", "A cost or duration cannot be negative, nor larger than 1e15. Write 0 or a positive number."
)
_NOT_A_BOOLEAN = Flaw("not-a-boolean", "This column holds booleans. Write true or false.")
_NOT_A_NUMBER = Flaw(
    "not-a-number", "This column holds numbers. Write a plain number such as 83.1, or declare the column as text."
)
_NUMBER_FLAWS = {
    CellType.NOT_FINITE: NOT_FINITE,
    CellType.BOOLEAN: _NOT_A_NUMBER,
    CellType.TEXT: _NOT_A_NUMBER,
}
_BARE_COMMA = re.compile(r"\s*[+−–-]?[0-9]+,[0-9]+(?:[eE][+−–-]?[0-9]+)?\s*")
_DECIMAL_COMMA = Flaw(
    "decimal-comma",
    "83,1 can be a number or a text here. Write 83.1, or separate the columns with semicolons; if it is a text, declare"
    " the column as text.",
)
_MIXED_SIGNS = Flaw(
    "mixed-decimal-signs",
    "Other rows of this column use the other decimal sign. Write all its numbers with decimal points, or all with"
    " decimal commas.",
)
_AMBIGUOUS_BESIDE_SEMICOLONS = Flaw(
    "ambiguous-number",
    "A number such as 1.234 can be a thousand or a fraction here. Write 1234 for the thousand, 1,234 for the fraction.",
)
_AMBIGUOUS = Flaw(
    "ambiguous-number",
    "A number such as 1,234 can be a thousand or a fraction here. Write 1234 for the thousand, 1.234 for the fraction.",
)


@dataclass(frozen=True)
class Declared:
    """What the caller says about the columns; the cells decide the rest.

    `key` names the key column. Without it, a column called `key`, in whatever case, is the key, if there is one.
    """

    key: str | None = None
    roles: Mapping[str, ColumnRole] = field(default_factory=dict)
    kinds: Mapping[str, ColumnKind] = field(default_factory=dict)
    expenses: Mapping[str, Expense] = field(default_factory=dict)

    @classmethod
    def from_columns(cls, columns: Sequence[Column]) -> Self:
        """The roles and kinds that a study already has, so that a later upload is read in the same way."""
        return cls(
            key=next((column.name for column in columns if column.role == "key"), None),
            roles={column.name: column.role for column in columns},
            kinds={column.name: column.kind for column in columns if column.role != "key"},
            expenses={column.name: column.expense for column in columns if column.expense is not None},
        )

    def role(self, name: str) -> ColumnRole:
        """The declared role of a column; otherwise key for the key column and feature for every other.

        A cost or duration is no feature unless it is declared as one.
        """
        if name in self.roles:
            return self.roles[name]
        if name == self.key or (self._has_default_key and name.casefold() == DEFAULT_KEY):
            return "key"
        return "attribute" if name in self.expenses else "feature"

    def kind(self, name: str) -> ColumnKind | None:
        """The declared kind of a column, if any; what a measurement takes is a number."""
        return "number" if name in self.expenses else self.kinds.get(name)

    def is_text(self, name: str) -> bool:
        """Whether the cells of a column are texts whatever they look like."""
        return self.role(name) == "key" or self.kinds.get(name) == "text"

    def check(self, names: Sequence[str], findings: Findings) -> None:
        """Every declared column exists, at most one is the key, and at least one is a feature."""
        declared_names = {*self.roles, *self.kinds, *self.expenses}
        if self.key is not None:
            declared_names.add(self.key)
        for name in sorted(declared_names - set(names)):
            message = "This column is declared, but the upload does not have it. Check the spelling."
            findings.error("unknown-column", message, column=shown_name(name))
        if sum(self.role(name) == "key" for name in names) > 1:
            findings.error("several-keys", "More than one column is declared as the key. Declare only one.")
        for name in sorted(self.expenses):
            if self.role(name) == "key" or self.kinds.get(name, "number") != "number":
                message = "A cost or duration is a column of numbers. It can be neither the key nor a text."
                findings.error("not-an-expense", message, column=shown_name(name))
        if names and all(self.role(name) != "feature" for name in names):
            message = "No column is a feature, so candidates cannot be told apart. Add at least one feature."
            findings.error("no-features", message)

    @property
    def _has_default_key(self) -> bool:
        return self.key is None and "key" not in self.roles.values()


@dataclass(frozen=True)
class TypedColumn:
    """A column and its checked cells: texts for a text column, otherwise numbers, with booleans as 0 and 1."""

    column: Column
    cells: Cells


class ColumnChecker:
    """Checks the columns of one upload and records what is wrong with them."""

    def __init__(self, first_row: int, limits: IntakeLimits, findings: Findings) -> None:
        self._first_row = first_row
        self._limits = limits
        self._findings = findings

    def check(self, raw: RawColumn, declared_columns: Declared) -> TypedColumn:
        """The column with its role and kind, and with its expense if it has one."""
        role, expense = declared_columns.role(raw.name), declared_columns.expenses.get(raw.name)
        typed = self._typed(raw, role, declared_columns.kind(raw.name))
        if expense is None or not isinstance(typed.cells, NumberCells):
            return typed
        self._check_expense(raw, typed.cells, role)
        return replace(typed, column=replace(typed.column, expense=expense))

    def _check_expense(self, raw: RawColumn, cells: NumberCells, role: ColumnRole) -> None:
        if role != "feature":  # of which every cell has been looked for already
            missing = self._missing_rows(raw, cells)
            self._error(_MISSING_EXPENSE, missing, raw.name)
        self._error(EXPENSE_OUT_OF_RANGE, np.flatnonzero(is_out_of_range(cells.values)), raw.name)

    def _missing_rows(self, raw: RawColumn, cells: NumberCells) -> IndexArray:
        """The rows without a value; a cell that cannot be read is another mistake."""
        if isinstance(raw.cells, NumberCells):
            return np.flatnonzero(np.isnan(cells.values))
        empty = np.array([cell_type(level) is CellType.MISSING for level in raw.cells.levels], dtype=bool)
        return np.flatnonzero(empty[raw.cells.codes])

    def _typed(self, raw: RawColumn, role: ColumnRole, declared: ColumnKind | None) -> TypedColumn:
        """The column with its kind: as declared, else as the file format states, else as the cells look."""
        if isinstance(raw.cells, NumberCells) and declared != "text":
            return self._from_numbers(raw.name, raw.cells, role, declared or raw.kind or "number")
        texts = as_texts(raw.cells)
        stated = declared or raw.kind
        kind = stated or infer_kind(texts, raw.name, self._findings)
        if kind == "number":
            return self._numbers_from_texts(raw, texts, role, is_stated=stated is not None)
        return self._from_texts(raw.name, texts, role, kind)

    def _from_numbers(self, name: str, cells: NumberCells, role: ColumnRole, kind: ColumnKind) -> TypedColumn:
        if kind == "boolean":
            neither = (cells.values != 0.0) & (cells.values != 1.0) & ~np.isnan(cells.values)
            self._error(_NOT_A_BOOLEAN, np.flatnonzero(neither), name)
        if role == "feature":
            self._error(_MISSING_VALUE, np.flatnonzero(np.isnan(cells.values)), name)
        return TypedColumn(Column(name, kind, role), cells)

    def _from_texts(self, name: str, texts: TextCells, role: ColumnRole, kind: ColumnKind) -> TypedColumn:
        self._check_missing(texts, name, role)
        if kind == "text":
            return self._text(name, texts, role)
        self._check_levels(texts, name, _boolean_flaw)
        by_level = np.fromiter(map(parse_boolean, texts.levels), dtype="<f8", count=len(texts.levels))
        return TypedColumn(Column(name, kind, role), NumberCells(by_level[texts.codes]))

    def _numbers_from_texts(
        self, raw: RawColumn, texts: TextCells, role: ColumnRole, *, is_stated: bool
    ) -> TypedColumn:
        """Numbers as people write them; the column as a whole says which decimal sign it uses.

        Where commas separate the cells and nobody states what the column is, 2,4 may well be a text.
        """
        self._check_missing(texts, raw.name, role)
        by_level = read_levels(texts.levels, "," if raw.decimal_comma else ".")
        if not is_stated and not raw.decimal_comma:
            doubtful = (level for level, number in by_level.items() if not isinstance(number, Flaw))
            by_level |= {level: _DECIMAL_COMMA for level in doubtful if _BARE_COMMA.fullmatch(level)}
        flaws = {
            level: _number_flaw(level, flaw, decimal_comma=raw.decimal_comma)
            for level, flaw in by_level.items()
            if isinstance(flaw, Flaw)
        }
        self._check_levels(texts, raw.name, flaws.get)
        values = [nan if isinstance(number, Flaw) else number for number in by_level.values()]
        return TypedColumn(Column(raw.name, "number", role), NumberCells(np.array(values, dtype="<f8")[texts.codes]))

    def _check_missing(self, texts: TextCells, name: str, role: ColumnRole) -> None:
        if role == "feature":
            self._check_levels(texts, name, lambda level: None if level.strip() else _MISSING_VALUE)

    def _text(self, name: str, texts: TextCells, role: ColumnRole) -> TypedColumn:
        self._check_levels(texts, name, lambda level: text_flaw(level, self._limits))
        if role == "attribute":
            return TypedColumn(Column(name, "text", role), texts)
        if len(texts.levels) > self._limits.levels:
            self._findings.error(
                "too-many-levels",
                f"This column has {len(texts.levels):,} different texts, and a feature may have at most"
                f" {self._limits.levels:,}. Declare the column as the key or as an attribute.",
                column=name,
            )
        return TypedColumn(Column(name, "text", role, texts.levels), texts)

    def _check_levels(self, texts: TextCells, name: str, flaw_of: Callable[[str], Flaw | None]) -> None:
        for flaw, rows in texts.rows_by_flaw(flaw_of).items():
            self._error(flaw, rows, name)

    def _error(self, flaw: Flaw, rows: IndexArray, name: str) -> None:
        self._findings.errors_in_rows(flaw.code, flaw.message, rows + self._first_row, name)


def check_names(names: Sequence[str], limits: IntakeLimits, findings: Findings, *, row: int | None = None) -> None:
    """Column names are present, printable and unique; `row` is the row that holds them."""
    if not names:
        findings.error("no-features", "There are no columns. Add at least one feature.", row=row)
    if len(names) > limits.columns:
        message = f"There are {len(names):,} columns, and this server takes at most {limits.columns:,}. Leave some out."
        findings.error("too-many-columns", message, row=row)
        return
    first_position: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        flaw = name_flaw(name, limits.name_length)
        if flaw:
            findings.error(f"name-{flaw.code}", f"The name of column {position} {flaw.message}", row=row)
        elif name in first_position:
            message = f"Columns {first_position[name]} and {position} have the same name. Rename one of them."
            findings.error("name-twice", message, row=row, column=name)
        first_position.setdefault(name, position)


def is_out_of_range(expenses: Array) -> BoolArray:
    """Which numbers cannot be what a measurement takes."""
    return (expenses < 0) | (expenses > MOST_EXPENSE)


def name_flaw(text: str, longest: int) -> Flaw | None:
    """What is wrong with the name of a column or the key of a candidate; the message lacks its subject."""
    if not text:
        return Flaw("empty", "is empty. Fill it in.")
    if len(text) > longest:
        return Flaw("too-long", f"is longer than {longest} characters. Shorten it.")
    if _UNPRINTABLE.search(text):
        return Flaw("control-character", "contains a control character or a broken character. Remove it.")
    if text != text.strip():
        return Flaw("outer-space", "begins or ends with a space. Remove it.")
    return None


def shown_name(name: str) -> str | None:
    """The name, unless it is unfit to appear in an error message."""
    return None if name_flaw(name, _SHOWN_LENGTH) else name


def text_flaw(text: str, limits: IntakeLimits) -> Flaw | None:
    """What is wrong with a text cell."""
    if len(text) > limits.cell_length:
        return Flaw("cell-too-long", f"The text is longer than {limits.cell_length:,} characters. Shorten it.")
    if _BROKEN.search(text):
        return Flaw("broken-text", "The text contains a NUL or a broken character. Remove it.")
    return None


def _number_flaw(level: str, flaw: Flaw, *, decimal_comma: bool) -> Flaw | None:
    """The flaw of a cell in a column of numbers, in words about columns; a missing cell has none."""
    if flaw is _DECIMAL_COMMA:
        return flaw
    if flaw is MIXED:
        return _MIXED_SIGNS
    if flaw is AMBIGUOUS:
        return _AMBIGUOUS_BESIDE_SEMICOLONS if decimal_comma else _AMBIGUOUS
    kind = cell_type(level)
    return None if kind is CellType.MISSING else _NUMBER_FLAWS.get(kind, _NOT_A_NUMBER)


def _boolean_flaw(level: str) -> Flaw | None:
    return _NOT_A_BOOLEAN if level.strip() != MISSING and np.isnan(parse_boolean(level)) else None
