"""Reads a filled-in sheet, or a history under the lab's own column names, into reports."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

from app.domain.batches import SuggestionId
from app.domain.clock import read_moment
from app.domain.errors import Finding, Invalid
from app.domain.observations import Failure, Measured, Report
from app.services.intake.csv_writing import unescape_formula
from app.services.intake.measured_values import DecimalSign, read_values
from app.services.intake.sheet_columns import STD, VALUE, SheetShape

_LINE = 200
_LONGEST = {"measured_by": _LINE, "ref": _LINE, "failed": 2_000, "abandoned": 2_000, "note": 10_000}
_NO_RETRY = "!"
# What spreadsheet programs make of an id such as 3-1: 03-Jan, Jan-03, 2026-01-03, 1/3/2026, 03.01.2026, 46025.
_DATE = re.compile(
    r"[0-9]{1,4}[./-][0-9]{1,2}(?:[./-][0-9]{0,4})?(?:[ T][0-9:.]+)?"
    r"|[0-9]{1,2}[-. ]+[^\W\d_]{3,10}\.?(?:[-. ][0-9]{2,4})?"
    r"|[^\W\d_]{3,10}\.?[-. ][0-9]{2,4}|[0-9]{5}(?:\.0)?"
)


@dataclass(frozen=True)
class SheetRow:
    """The filled cells of one row: those of our own columns, and those of the study's."""

    number: int
    cells: Mapping[str, str]
    conditions: Mapping[str, str]


def read_sheet(path: Path, shape: SheetShape) -> list[Report]:
    """The reports of a CSV sheet. Rows without a value, a failure or an abandonment are skipped."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid([Finding("utf-8", 'The sheet is not in UTF-8. Save it as "CSV UTF-8".')]) from None
    if "\0" in text:
        raise Invalid([Finding("nul", "The file has NUL characters, so it is not a CSV file.")])
    header_line = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=header_line.count)
    try:
        lines = list(csv.reader(StringIO(text, newline=None), delimiter=delimiter, strict=True))
    except csv.Error:
        raise Invalid([Finding("csv", "The sheet cannot be read as CSV. Check its quotation marks.")]) from None
    return read_rows(lines, shape, "," if delimiter == ";" else ".")


def read_rows(lines: Sequence[Sequence[str]], shape: SheetShape, default: DecimalSign) -> list[Report]:
    """The reports in the rows of a table, the header first."""
    header = [unescape_formula(name.strip()) for name in lines[0]] if lines else []
    places = shape.places(header)
    findings: list[Finding] = []
    rows = _rows(lines[1:], places, findings)
    outcomes = _outcomes(rows, shape, default, findings)
    reports = [_report(row, findings) for row in rows]
    if findings:
        raise Invalid(sorted(findings, key=lambda finding: finding.row or 0))
    return [
        replace(report, outcomes=(outcomes[report.row],)) if report.row in outcomes else report
        for report in reports
        if report is not None
    ]


def _outcomes(
    rows: Sequence[SheetRow], shape: SheetShape, default: DecimalSign, findings: list[Finding]
) -> dict[int | None, dict[str, Measured]]:
    """What each row measured, by row. A column is read as a whole, because it decides its decimal sign."""
    outcomes: dict[int | None, dict[str, Measured]] = {}
    for quantity in shape.quantities:
        column = shape.column_of(quantity)
        values = _column(rows, VALUE + quantity.name, quantity.unit, default, column, findings)
        errors = _column(rows, STD + quantity.name, quantity.unit, default, f"{column} std", findings)
        for row, error in errors.items():
            if row not in values or error < 0:
                message = "Write the standard error of a value, which is not negative, or leave the cell empty."
                findings.append(Finding("std", message, row=row, column=f"{column} std"))
        for row, value in values.items():
            outcomes.setdefault(row, {})[quantity.name] = Measured(value, errors.get(row))
    return outcomes


def _column(
    rows: Sequence[SheetRow], place: str, unit: str, default: DecimalSign, column: str, findings: list[Finding]
) -> dict[int, float]:
    cells = [(row.number, row.cells[place]) for row in rows if place in row.cells]
    values, flaws = read_values(cells, unit, default, column)
    findings += flaws
    return values


def _rows(lines: Sequence[Sequence[str]], places: Sequence[str | None], findings: list[Finding]) -> list[SheetRow]:
    """The rows that report something, in order."""
    rows = []
    for number, cells in enumerate(lines, start=2):
        if len(cells) not in (0, len(places)):
            message = (
                f"This row has {len(cells)} cells, but the header has {len(places)}."
                " Put a text or a number that contains the separator in quotes."
            )
            findings.append(Finding("ragged", message, row=number))
            continue
        filled = {
            place: unescape_formula(cell.strip())
            for place, cell in zip(places, cells, strict=False)
            if place is not None and cell.strip()
        }
        if {"failed", "abandoned"} & filled.keys() or any(place.startswith(VALUE) for place in filled):
            conditions = {place[1:]: cell for place, cell in filled.items() if place.startswith("=")}
            rows.append(SheetRow(number, filled, conditions))
    return rows


def _report(row: SheetRow, findings: list[Finding]) -> Report | None:
    """The report of a row; its value follows when the whole column is read."""
    cells = row.cells
    given = [name for name in ("failed", "abandoned") if name in cells]
    if any(place.startswith(VALUE) for place in cells):
        given.insert(0, "value")
    if len(given) > 1:
        findings.append(Finding("several", f"Fill in only one of {', '.join(given)}.", row=row.number))
        return None
    suggestion, key = SuggestionId.parse(cells.get("suggestion", "")), cells.get("key")
    mangled = suggestion is None and "suggestion" in cells
    if not _is_named(row, suggestion, key, findings):
        return None
    _check_texts(row, findings)
    failed = cells.get("failed")
    return Report(
        suggestion=suggestion,
        candidate=key,
        conditions=row.conditions,
        mangled=mangled,
        replicate=_replicate(row, findings) if "suggestion" in cells else None,
        failed=_failure(failed) if failed else None,
        abandoned=cells.get("abandoned"),
        measured_at=_moment(row, findings),
        measured_by=cells.get("measured_by"),
        note=cells.get("note"),
        ref=cells.get("ref"),
        row=row.number,
    )


def _is_named(row: SheetRow, suggestion: SuggestionId | None, key: str | None, findings: list[Finding]) -> bool:
    """Whether the row says what was measured. A key stands in for an id that became a date, but for no other text."""
    text = row.cells.get("suggestion")
    if suggestion is not None or (key is not None and (text is None or _DATE.fullmatch(text))):
        return True
    if text is None:
        message = "Fill in `suggestion`, or the candidate's `key`."
        findings.append(Finding("which", message, row=row.number))
    else:
        message = "Write the id of a suggestion, such as B3-S1, or leave the cell empty and fill in `key`."
        findings.append(Finding("suggestion", message, row=row.number, column="suggestion"))
    return False


def _failure(text: str) -> Failure:
    return Failure(text.lstrip(_NO_RETRY).strip() or "failed", retry=not text.startswith(_NO_RETRY))


def _replicate(row: SheetRow, findings: list[Finding]) -> int | None:
    text = row.cells.get("replicate")
    if text is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,4}|100000", text):
        findings.append(Finding("replicate", "Write a whole number from 1.", row=row.number, column="replicate"))
        return None
    return int(text)


def _moment(row: SheetRow, findings: list[Finding]) -> str | None:
    text = row.cells.get("measured_at")
    moment = None if text is None else read_moment(text)
    if text is not None and moment is None:
        message = "Write date and time with a time zone, as in 2026-05-04T13:30+02:00."
        findings.append(Finding("time", message, row=row.number, column="measured_at"))
    return moment


def _check_texts(row: SheetRow, findings: list[Finding]) -> None:
    """Texts have the same limits as in JSON; names are on one line."""
    for column, most in _LONGEST.items():
        text = row.cells.get(column, "")
        if len(text) > most or (most == _LINE and not text.isprintable()):
            message = f"Write at most {most} printable characters."
            findings.append(Finding("text", message, row=row.number, column=column))
