"""Sheets: a batch as a table to print and fill in, and the filled-in table as reports."""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from app.domain.batches import SuggestionId
from app.domain.candidates import CellValue
from app.domain.clock import read_moment
from app.domain.errors import Finding, Invalid
from app.domain.observations import Failure, Report
from app.services.intake.csv_writing import unescape_formula
from app.services.use_cases.batches import BatchDetails

FILLED_IN = ("value", "failed", "note", "measured_by", "measured_at", "ref")
_KNOWN = {"suggestion", "replicate", "key", "candidate", "abandoned", *FILLED_IN}
_LINE = 200
_LONGEST = {"measured_by": _LINE, "ref": _LINE, "failed": 2_000, "abandoned": 2_000, "note": 10_000}
_NO_RETRY = "!"
_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")


def sheet_of(details: BatchDetails) -> tuple[list[str], Iterator[list[CellValue]]]:
    """One row per requested measurement; the columns to fill in come last and are empty."""
    candidates = details.bench.candidates
    first = next(iter(candidates.values()))
    shown = [*first.attributes, *first.features]
    header = ["suggestion", "replicate", "key", *shown, *FILLED_IN]

    def rows() -> Iterator[list[CellValue]]:
        for suggestion in details.bench.suggestions:
            candidate = candidates[suggestion.candidate]
            values = {**candidate.attributes, **candidate.features}
            cells = [values[name] for name in shown]
            for replicate in range(1, suggestion.replicates + 1):
                yield [str(suggestion.id), replicate, candidate.key, *cells, *[None] * len(FILLED_IN)]

    return header, rows()


def read_sheet(path: Path) -> list[Report]:
    """The reports of a filled-in sheet. Rows without a value, a failure or an abandonment are skipped.

    The sheet needs a column `value` and one of `suggestion`, `key` and `candidate`. Unknown columns are skipped.
    """
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
    return _reports(lines, comma=delimiter == ";")


def _reports(lines: Sequence[Sequence[str]], *, comma: bool) -> list[Report]:
    header = [unescape_formula(name.strip()) for name in lines[0]] if lines else []
    missing = "value" not in header or not {"suggestion", "key", "candidate"} & set(header)
    if missing or len(set(header) & _KNOWN) != sum(name in _KNOWN for name in header):
        message = "The header needs the column `value`, one of `suggestion`, `key` and `candidate`, and none twice."
        raise Invalid([Finding("header", message, row=1)])
    findings: list[Finding] = []
    reports = []
    for row, cells in enumerate(lines[1:], start=2):
        if len(cells) not in (0, len(header)):
            message = f"This row has {len(cells)} cells, but the header has {len(header)}."
            findings.append(Finding("ragged", message, row=row))
            continue
        filled = {
            name: unescape_formula(cell.strip()) for name, cell in zip(header, cells, strict=False) if cell.strip()
        }
        report = _report(filled, row, findings, comma=comma)
        if report is not None:
            reports.append(report)
    if findings:
        raise Invalid(findings)
    return reports


def _report(filled: dict[str, str], row: int, findings: list[Finding], *, comma: bool) -> Report | None:
    outcomes = [name for name in ("value", "failed", "abandoned") if name in filled]
    if not outcomes:
        return None
    if len(outcomes) > 1:
        findings.append(Finding("several", f"Fill in only one of {', '.join(outcomes)}.", row=row))
        return None
    suggestion = SuggestionId.parse(filled.get("suggestion", ""))
    key = filled.get("key") or filled.get("candidate")
    if "suggestion" in filled and suggestion is None:
        message = "Write the id of a suggestion, such as 3-1."
        findings.append(Finding("suggestion", message, row=row, column="suggestion"))
        return None
    if suggestion is None and key is None:
        findings.append(Finding("which", "Fill in `suggestion`, or the candidate's `key`.", row=row))
        return None
    _check_texts(filled, row, findings)
    failed = filled.get("failed")
    return Report(
        suggestion=suggestion,
        candidate=None if suggestion else key,
        values=_values(filled, row, findings, comma=comma),
        replicate=_replicate(filled, row, findings) if suggestion else None,
        failed=Failure(failed.lstrip(_NO_RETRY).strip() or "failed", not failed.startswith(_NO_RETRY))
        if failed
        else None,
        abandoned=filled.get("abandoned"),
        measured_at=_moment(filled, row, findings),
        measured_by=filled.get("measured_by"),
        note=filled.get("note"),
        ref=filled.get("ref"),
        row=row,
    )


def _values(filled: dict[str, str], row: int, findings: list[Finding], *, comma: bool) -> tuple[float, ...]:
    text = filled.get("value")
    if text is None:
        return ()
    if _COMMA.fullmatch(text):
        if not comma:
            message = "The decimal comma is ambiguous here: write 83.1, or separate the columns with semicolons."
            findings.append(Finding("decimal-comma", message, row=row, column="value"))
            return ()
        text = text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        message = (
            "Write a plain number such as 83.1. If nothing was measured, leave `value` empty and say why in `failed`."
        )
        findings.append(Finding("number", message, row=row, column="value"))
        return ()
    return (value,)


def _replicate(filled: dict[str, str], row: int, findings: list[Finding]) -> int | None:
    text = filled.get("replicate")
    if text is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,4}|100000", text):
        findings.append(Finding("replicate", "Write a whole number from 1.", row=row, column="replicate"))
        return None
    return int(text)


def _moment(filled: dict[str, str], row: int, findings: list[Finding]) -> str | None:
    text = filled.get("measured_at")
    moment = None if text is None else read_moment(text)
    if text is not None and moment is None:
        message = "Write date and time with a time zone, as in 2026-05-04T13:30+02:00."
        findings.append(Finding("time", message, row=row, column="measured_at"))
    return moment


def _check_texts(filled: dict[str, str], row: int, findings: list[Finding]) -> None:
    """Texts have the same limits as in JSON; names are on one line."""
    for column, most in _LONGEST.items():
        text = filled.get(column, "")
        if len(text) > most or (most == _LINE and not text.isprintable()):
            findings.append(Finding("text", f"Write at most {most} printable characters.", row=row, column=column))
