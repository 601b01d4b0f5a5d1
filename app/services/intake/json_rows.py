"""Candidates from JSON rows: a list of objects, one per candidate, for small sets."""

from collections.abc import Mapping, Sequence

import numpy as np

from app.domain.candidates import Kind
from app.services.intake.build import build_table
from app.services.intake.cells import MISSING, Cells, Numbers, RawColumn, encode
from app.services.intake.declared import Declared
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import Limits
from app.services.intake.names import check_names, shown_name
from app.services.intake.table import CandidateTable

_FIRST_ROW = 1
_Row = Mapping[str, object]


def read_json_rows(rows: object, declared: Declared | None = None, limits: Limits | None = None) -> CandidateTable:
    """The candidates of a parsed JSON list; raises InvalidCandidates with the row and column of every mistake.

    The first row names the columns. JSON says itself what a value is: the text "1" stays text.
    """
    declared, limits, findings = declared or Declared(), limits or Limits(), Findings()
    checked = _objects(rows, limits, findings)
    names = list(checked[0])
    check_names(names, limits, findings, row=_FIRST_ROW)
    _check_members(checked, set(names), findings)
    findings.stop_if_any()
    columns = [_column(name, [row.get(name) for row in checked], declared, findings) for name in names]
    findings.stop_if_any()
    return build_table(columns, _FIRST_ROW, declared, limits, findings)


def _objects(rows: object, limits: Limits, findings: Findings) -> list[_Row]:
    if not isinstance(rows, list):
        raise refuse("not-a-list", "candidates must be a list of objects, one per candidate")
    if not rows:
        raise refuse("no-candidates", "there is no candidate; give at least one row")
    if len(rows) > limits.json_rows:
        raise refuse("too-many-rows", f"{len(rows)} rows; the limit for JSON is {limits.json_rows}: upload CSV or .npy")
    for number, row in enumerate(rows, start=_FIRST_ROW):
        if not isinstance(row, dict):
            findings.error("not-an-object", "a candidate must be an object of column names and values", row=number)
    findings.stop_if_any()
    return rows


def _check_members(rows: Sequence[_Row], names: set[str], findings: Findings) -> None:
    for number, row in enumerate(rows, start=_FIRST_ROW):
        for name in row.keys() - names:
            findings.error(
                "unknown-column",
                "the first row has no such column; give it there too",
                row=number,
                column=shown_name(name),
            )


def _column(name: str, values: Sequence[object], declared: Declared, findings: Findings) -> RawColumn:
    for number, value in enumerate(values, start=_FIRST_ROW):
        if not isinstance(value, bool | int | float | str | None):
            findings.error(
                "nested-value", "a cell must be a number, a boolean, a text or null", row=number, column=name
            )
    if declared.kinds.get(name) != "text" and declared.role(name) != "key":
        numbers = _all_numbers(values)
        if numbers is not None:
            return RawColumn(name, numbers)
    return RawColumn(name, _texts(values), _stated_kind(values))


def _all_numbers(values: Sequence[object]) -> Numbers | None:
    """The column as numbers, if each is a finite one; null is NaN."""
    if not any(map(_is_number, values)) or not all(value is None or _is_number(value) for value in values):
        return None
    missing = np.array([value is None for value in values])
    try:
        floats = np.array([np.nan if value is None else float(value) for value in values], dtype="<f8")  # type: ignore[arg-type]
    except OverflowError:
        return None
    return Numbers(floats) if np.isfinite(floats[~missing]).all() else None


def _texts(values: Sequence[object]) -> Cells:
    return encode([_text(value) for value in values])


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) >= 1 << 1024:
        return "inf"  # no double holds it, and Python would refuse to write it out
    return repr(value) if _is_number(value) else MISSING


def _stated_kind(values: Sequence[object]) -> Kind | None:
    present = {type(value) for value in values if value is not None}
    if present == {str}:
        return "text"
    return "boolean" if present == {bool} else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
