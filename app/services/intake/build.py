"""Puts checked columns together into a candidate table."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from app.domain.candidates import Column
from app.services.intake.cells import MISSING, Numbers, RawColumn, Texts, as_texts
from app.services.intake.columns import ColumnCheck, TypedColumn
from app.services.intake.declared import Declared, check_declared
from app.services.intake.findings import Findings, refuse
from app.services.intake.keys import check_keys
from app.services.intake.limits import Limits
from app.services.intake.oddities import note_oddities
from app.services.intake.table import Attribute, CandidateTable


def check_size(rows: int, columns: int, limits: Limits) -> None:
    """Refuse a table that is empty or larger than the limits."""
    if not rows:
        raise refuse("no-candidates", "there is no candidate; give at least one row")
    if rows > limits.rows:
        raise refuse("too-many-rows", f"{rows} rows; the limit is {limits.rows}")
    if rows * columns > limits.cells:
        raise refuse("too-many-cells", f"{rows} rows of {columns} columns; the limit is {limits.cells} cells in all")


def build_table(
    raw: Sequence[RawColumn], first_row: int, declared: Declared, limits: Limits, findings: Findings
) -> CandidateTable:
    """Check every column and every key, and raise all that is wrong at once."""
    check_size(_rows(raw), len(raw), limits)
    check_declared(declared, [column.name for column in raw], findings)
    check = ColumnCheck(first_row, limits, findings)
    keys: list[str] | None = None
    typed: list[TypedColumn] = []
    for column in raw:
        role = declared.role(column.name)
        if role == "key":
            texts = as_texts(column.cells.values) if isinstance(column.cells, Numbers) else column.cells
            keys = check_keys(texts, column.name, first_row, limits, findings)
            typed.append(TypedColumn(Column(column.name, "text", "key"), texts))
        else:
            typed.append(check.typed(column, role, declared.kinds.get(column.name)))
    findings.stop_if_any()
    return _assemble(typed, keys, first_row, findings)


def _assemble(
    typed: Sequence[TypedColumn], keys: list[str] | None, first_row: int, findings: Findings
) -> CandidateTable:
    columns = tuple(each.column for each in typed)
    rows = _rows(typed)
    features = [each.cells for each in typed if each.column.role == "feature"]
    numbers = _stacked([cells.values for cells in features if isinstance(cells, Numbers)], rows, "<f8")
    codes = _stacked([cells.codes for cells in features if isinstance(cells, Texts)], rows, "<i4")
    note_oddities(columns, numbers, codes, first_row, findings)
    attributes = {each.column.name: _shown(each) for each in typed if each.column.role == "attribute"}
    return CandidateTable(columns, numbers, codes, keys, attributes, findings.warnings, first_row)


def _rows(columns: Sequence[RawColumn | TypedColumn]) -> int:
    cells = columns[0].cells
    return len(cells.values if isinstance(cells, Numbers) else cells.codes)


def _stacked(columns: Sequence[np.ndarray], rows: int, dtype: str) -> np.ndarray:
    matrix = np.empty((rows, len(columns)), dtype=dtype)
    for position, column in enumerate(columns):
        matrix[:, position] = column
    return matrix


def _shown(typed: TypedColumn) -> list[Attribute]:
    """An attribute's cells as plain values, None where missing."""
    if isinstance(typed.cells, Texts):
        levels = [None if level.strip() == MISSING else level for level in typed.cells.levels]
        return [levels[code] for code in typed.cells.codes.tolist()]
    values = typed.cells.values.tolist()
    if typed.column.kind == "boolean":
        return [None if isnan(value) else bool(value) for value in values]
    return [None if isnan(value) else value for value in values]
