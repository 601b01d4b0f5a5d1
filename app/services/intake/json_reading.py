"""Reads candidates from JSON rows: a list of objects, one per candidate, for small sets."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from app.domain.candidates import ColumnKind
from app.services.intake.cell_types import MISSING, NumberCells, RawColumn, encode_texts
from app.services.intake.columns import Declared, check_names, shown_name
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import NO_CANDIDATES, IntakeLimits
from app.services.intake.table import CandidateTable, build_table

_FIRST_ROW = 1
_Row: TypeAlias = Mapping[str, object]


def read_json_rows(
    document: object, declared: Declared | None = None, limits: IntakeLimits | None = None
) -> CandidateTable:
    """The candidates in a parsed JSON list; raises InvalidCandidates with the row and column of every mistake.

    The first row names the columns. JSON itself says what a value is: the text "1" stays a text.
    """
    declared, limits, findings = declared or Declared(), limits or IntakeLimits(), Findings()
    rows = _rows(document, limits, findings)
    names = list(rows[0])
    check_names(names, limits, findings, row=_FIRST_ROW)
    _check_members(rows, set(names), findings)
    findings.stop_if_any()
    columns = [_column(name, [row.get(name) for row in rows], declared, findings) for name in names]
    findings.stop_if_any()
    return build_table(columns, _FIRST_ROW, declared, limits, findings)


def _rows(document: object, limits: IntakeLimits, findings: Findings) -> list[_Row]:
    if not isinstance(document, list):
        raise refuse("not-a-list", "Write `candidates` as a list of objects, one per candidate.")
    if not document:
        raise refuse("no-candidates", NO_CANDIDATES)
    if len(document) > limits.json_rows:
        message = f"JSON may have at most {limits.json_rows:,} rows, and this list has more. Upload it as CSV or .npy."
        raise refuse("too-many-rows", message)
    for number, row in enumerate(document, start=_FIRST_ROW):
        if not isinstance(row, dict):
            findings.error("not-an-object", "Write this candidate as an object of column names and values.", row=number)
    findings.stop_if_any()
    return document


def _check_members(rows: Sequence[_Row], names: set[str], findings: Findings) -> None:
    message = "The first row does not have this column. Add it there, or remove it here."
    for number, row in enumerate(rows, start=_FIRST_ROW):
        for name in sorted(row.keys() - names):
            findings.error("unknown-column", message, row=number, column=shown_name(name))


def _column(name: str, values: Sequence[object], declared: Declared, findings: Findings) -> RawColumn:
    message = "A cell cannot hold a list or an object. Write a number, a text, true, false or null."
    for number, value in enumerate(values, start=_FIRST_ROW):
        if not isinstance(value, bool | int | float | str | None):
            findings.error("nested-value", message, row=number, column=name)
    if not declared.is_text(name):
        numbers = _all_numbers(values)
        if numbers is not None:
            return RawColumn(name, numbers)
    return RawColumn(name, encode_texts([_text(value) for value in values]), _stated_kind(values))


def _all_numbers(values: Sequence[object]) -> NumberCells | None:
    """The column as numbers if every value is a finite number or null, which becomes NaN; None otherwise."""
    if not any(map(_is_number, values)) or not all(value is None or _is_number(value) for value in values):
        return None
    missing = np.array([value is None for value in values])
    try:
        floats = np.array([np.nan if value is None else float(value) for value in values], dtype="<f8")  # type: ignore[arg-type]
    except OverflowError:
        return None
    return NumberCells(floats) if np.isfinite(floats[~missing]).all() else None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 1 << 1024:
        return "inf"  # no double holds it, and Python refuses to write out integers this long
    return repr(value) if _is_number(value) else MISSING


def _stated_kind(values: Sequence[object]) -> ColumnKind | None:
    """The kind of a column whose values are all texts or all booleans."""
    types = {type(value) for value in values if value is not None}
    if types == {str}:
        return "text"
    return "boolean" if types == {bool} else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
