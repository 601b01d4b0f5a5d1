"""Reads a filled-in sheet, or a history under the lab's own column names, into reports."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from app.deadline import check_deadline
from app.domain.batches import SuggestionId
from app.domain.clock import read_moment
from app.domain.errors import Finding, Invalid
from app.domain.limits import MOST_SHEET_BYTES, MOST_SHEET_CELLS, MOST_SHEET_ROWS
from app.domain.observations import Failure, Measured, Report
from app.services.intake.csv_writing import unescape_formula
from app.services.intake.measured_values import DecimalSign, read_values
from app.services.intake.sheet_columns import ALMOST, STD, VALUE, SheetShape

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
    if path.stat().st_size > MOST_SHEET_BYTES:
        raise _too_large()
    _refuse_excel(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = _lines(file)
            first = next(lines, "")
            delimiter = max(",;\t", key=first.count)
            rows = _csv_rows(chain([first], lines), delimiter)
            return read_rows(rows, shape, "," if delimiter == ";" else ".")
    except UnicodeDecodeError:
        raise _not_utf_8(path) from None


def _refuse_excel(path: Path) -> None:
    with path.open("rb") as file:
        if file.read(4) == b"PK\x03\x04":
            message = 'This is an Excel file. Send it as .xlsx (by its Content-Type), or save it as "CSV UTF-8".'
            raise Invalid([Finding("xlsx", message)])


def _csv_rows(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
    read = 0
    try:
        for row in csv.reader(lines, delimiter=delimiter, strict=True):
            read += 1
            yield row
    except csv.Error:
        message = "From this row on, the sheet cannot be read as CSV. Check its quotation marks."
        raise Invalid([Finding("csv", message, row=read + 1)]) from None


def _not_utf_8(path: Path) -> Invalid:
    content, row = path.read_bytes(), 1
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
    return Invalid([Finding("utf-8", 'This row is not in UTF-8. Save the sheet as "CSV UTF-8".', row=row)])


def read_rows(lines: Iterable[Sequence[str]], shape: SheetShape, default: DecimalSign) -> list[Report]:
    """The reports in the rows of a table, the header first."""
    table = _bounded(lines)
    header = [unescape_formula(name.strip()) for name in next(table, [])]
    places = shape.places(header)
    findings: list[Finding] = []
    rows, misspelt = _rows(table, places, findings)
    findings += [shape.misspelt(place) for place in misspelt]
    outcomes = _outcomes(rows, shape, default, findings)
    reports = [_report(row, findings) for row in rows]
    if findings:
        raise Invalid(sorted(findings, key=lambda finding: finding.row or 0))
    return [
        replace(report, outcomes=(outcomes[report.row],)) if report.row in outcomes else report
        for report in reports
        if report is not None
    ]


def _lines(file: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(file, start=1):
        if "\0" in line:
            message = 'The file has NUL characters, so it is not a CSV file. Save the sheet as "CSV UTF-8".'
            raise Invalid([Finding("nul", message, row=number)])
        yield line


def _bounded(lines: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The rows one by one, up to the limits; empty ones count, too, because reading them takes as long."""
    cells = 0
    for number, row in enumerate(lines):
        check_deadline()
        cells += len(row)
        if number > MOST_SHEET_ROWS or cells > MOST_SHEET_CELLS:
            raise _too_large()
        yield row


def _too_large() -> Invalid:
    message = (
        f"A sheet may have {MOST_SHEET_BYTES >> 20} MB, {MOST_SHEET_ROWS:,} rows and {MOST_SHEET_CELLS:,} cells,"
        " and this one has more. Delete its empty rows, or send it in parts."
    )
    return Invalid([Finding("sheet-too-large", message)])


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


def _rows(
    lines: Iterable[Sequence[str]], places: Sequence[str | None], findings: list[Finding]
) -> tuple[list[SheetRow], list[str]]:
    """The rows that report something, in order; and the columns that are almost ours and not empty."""
    rows, misspelt = [], set()
    for number, cells in enumerate(lines, start=2):
        if len(cells) not in (0, len(places)):
            message = (
                f"This row has {len(cells)} cells, but the header has {len(places)}."
                " Write 83.1 instead of 83,1, and put a text that contains the separator in quotes."
            )
            findings.append(Finding("ragged", message, row=number))
            continue
        filled = {
            place: unescape_formula(cell.strip())
            for place, cell in zip(places, cells, strict=False)
            if place is not None and cell.strip()
        }
        misspelt |= {place for place in filled if place.startswith(ALMOST)}
        if {"failed", "abandoned"} & filled.keys() or any(place.startswith(VALUE) for place in filled):
            conditions = {place[1:]: cell for place, cell in filled.items() if place.startswith("=")}
            rows.append(SheetRow(number, filled, conditions))
    return rows, sorted(misspelt)


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
