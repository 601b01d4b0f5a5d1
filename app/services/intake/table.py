"""The candidate table: the value that every reader ends in, built from columns or fitted to a study's columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from tempfile import TemporaryFile

import numpy as np

from app.arrays import Array, CodeArray, FloatArray
from app.domain.candidates import CellValue, Column
from app.domain.errors import Finding
from app.services.intake.cell_types import MISSING, NumberCells, RawColumn, TextCells, as_texts
from app.services.intake.columns import ColumnChecker, Declared, TypedColumn
from app.services.intake.findings import Findings
from app.services.intake.keys import check_keys
from app.services.intake.limits import IntakeLimits, check_size
from app.services.intake.warnings import warn_about_features

LARGE = 2**26  # bytes of an array that is put together on the disk


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """A checked set of candidates, ready to be stored."""

    columns: tuple[Column, ...]
    """In upload order."""
    numbers: FloatArray
    """(rows, number and boolean features), float64, C order; booleans as 0.0 and 1.0."""
    codes: CodeArray
    """(rows, text features), int32 positions in the levels of each."""
    keys: Sequence[str] | None
    """None: the keys are the row numbers "1", "2", …"""
    attributes: Mapping[str, Sequence[CellValue]]
    """Shown to people but not modelled; None where missing."""
    warnings: tuple[Finding, ...]
    first_row: int
    """The row of the first candidate, as the uploader counts."""
    fingerprints: Mapping[str, Array] = field(default_factory=dict)
    """By the name of a column of molecules: (levels, counts)."""

    def __len__(self) -> int:
        return len(self.numbers)


def build_table(
    raw_columns: Sequence[RawColumn], first_row: int, declared: Declared, limits: IntakeLimits, findings: Findings
) -> CandidateTable:
    """Check every column and every key; raises InvalidCandidates with all mistakes at once."""
    check_size(_row_count(raw_columns[0]), len(raw_columns), limits)
    declared.check([column.name for column in raw_columns], findings)
    checker = ColumnChecker(first_row, limits, findings)
    keys: list[str] | None = None
    typed_columns: list[TypedColumn] = []
    for raw in raw_columns:
        role = declared.role(raw.name)
        if role == "key":
            texts = as_texts(raw.cells)
            keys = check_keys(texts, raw.name, first_row, limits, findings)
            typed_columns.append(TypedColumn(Column(raw.name, "text", "key"), texts))
        else:
            typed_columns.append(checker.check(raw, declared))
    findings.stop_if_any()
    return _assemble(typed_columns, keys, first_row, findings)


def _assemble(
    typed_columns: Sequence[TypedColumn], keys: list[str] | None, first_row: int, findings: Findings
) -> CandidateTable:
    columns = tuple(typed.column for typed in typed_columns)
    rows = _row_count(typed_columns[0])
    features = [typed.cells for typed in typed_columns if typed.column.role == "feature"]
    numbers = _stack([cells.values for cells in features if isinstance(cells, NumberCells)], rows, "<f8")
    codes = _stack([cells.codes for cells in features if isinstance(cells, TextCells)], rows, "<i4")
    warn_about_features(columns, numbers, codes, first_row, findings)
    attributes = {typed.column.name: _attribute(typed) for typed in typed_columns if typed.column.role == "attribute"}
    return CandidateTable(columns, numbers, codes, keys, attributes, findings.warnings, first_row)


def _row_count(column: RawColumn | TypedColumn) -> int:
    cells = column.cells
    return len(cells.values if isinstance(cells, NumberCells) else cells.codes)


def _stack(columns: Sequence[Array], rows: int, dtype: str) -> Array:
    matrix = scratch_array(rows, len(columns), dtype)
    for position, column in enumerate(columns):
        matrix[:, position] = column
    return matrix


def scratch_array(rows: int, columns: int, dtype: str) -> Array:
    """An array to be filled: in memory if it is small, else in a temporary file that nobody else can see."""
    if rows * columns * np.dtype(dtype).itemsize < LARGE:
        return np.empty((rows, columns), dtype=dtype)
    with TemporaryFile(prefix="nextbatch-") as file:
        return np.asarray(np.memmap(file, dtype, "w+", shape=(rows, columns)))


def _attribute(typed: TypedColumn) -> list[CellValue]:
    """An attribute's cells as plain values, None where missing."""
    if isinstance(typed.cells, TextCells):
        levels = [None if level.strip() == MISSING else level for level in typed.cells.levels]
        return [levels[code] for code in typed.cells.codes.tolist()]
    values = typed.cells.values.tolist()
    if typed.column.kind == "boolean":
        return [None if isnan(value) else bool(value) for value in values]
    return [None if isnan(value) else value for value in values]


def fit_to_columns(columns: Sequence[Column], table: CandidateTable) -> CandidateTable:
    """The table in the order and the codes of a study's columns; its `columns` are the study's new ones.

    New texts of a text feature are appended to its levels, so every stored code keeps its meaning. Raises
    InvalidCandidates unless names, kinds and roles agree. `Declared.from_columns(columns)` reads an upload so that they
    do.
    """
    findings = Findings()
    _check_agreement(columns, table, findings)
    findings.stop_if_any()
    incoming = {column.name: column for column in table.columns}
    extended = tuple(_with_new_levels(column, incoming[column.name], findings) for column in columns)
    return replace(
        table,
        columns=extended,
        numbers=_reorder_numbers(columns, table),
        codes=_recode(extended, table),
        attributes={column.name: table.attributes[column.name] for column in columns if column.role == "attribute"},
        warnings=(*table.warnings, *findings.warnings),
    )


def _check_agreement(columns: Sequence[Column], table: CandidateTable, findings: Findings) -> None:
    known, incoming = {column.name: column for column in columns}, {column.name: column for column in table.columns}
    for name in sorted(known.keys() - incoming.keys()):
        findings.error("missing-column", "The study has this column, but the upload does not. Add it.", column=name)
    for name in sorted(incoming.keys() - known.keys()):
        findings.error("unknown-column", "The study does not have this column. Remove it.", column=name)
    for name in sorted(known.keys() & incoming.keys()):
        for trait in ("kind", "role", "expense"):
            here, in_study = getattr(incoming[name], trait), getattr(known[name], trait)
            if here != in_study:
                message = f"The column's {trait} is {here} in this upload but {in_study} in the study. Make them agree."
                findings.error(f"other-{trait}", message, column=name)


def _with_new_levels(known: Column, incoming: Column, findings: Findings) -> Column:
    known_levels = set(known.levels)
    new_levels = [level for level in incoming.levels if level not in known_levels]
    if not new_levels:
        return known
    message = f"The study did not have {len(new_levels):,} of these texts before. Check their spelling."
    findings.warning("new-levels", message, column=known.name)
    return replace(known, levels=(*known.levels, *new_levels))


def _reorder_numbers(columns: Sequence[Column], table: CandidateTable) -> FloatArray:
    order = _feature_order(columns, table, text=False)
    return table.numbers if order == sorted(order) else np.ascontiguousarray(table.numbers[:, order])


def _recode(columns: Sequence[Column], table: CandidateTable) -> CodeArray:
    """The codes of the table's text features, translated to the levels of `columns`."""
    incoming = {column.name: column for column in table.columns}
    recoded = np.empty_like(table.codes)
    order = _feature_order(columns, table, text=True)
    for position, column in enumerate(_features(columns, text=True)):
        code_of = {level: code for code, level in enumerate(column.levels)}
        translation = np.array([code_of[level] for level in incoming[column.name].levels], dtype="<i4")
        recoded[:, position] = translation[table.codes[:, order[position]]]
    return recoded


def _feature_order(columns: Sequence[Column], table: CandidateTable, *, text: bool) -> list[int]:
    """The position of each of the study's text (or other) features among those of the table."""
    names = [column.name for column in _features(table.columns, text=text)]
    return [names.index(column.name) for column in _features(columns, text=text)]


def _features(columns: Sequence[Column], *, text: bool) -> list[Column]:
    return [column for column in columns if column.role == "feature" and (column.kind == "text") == text]
