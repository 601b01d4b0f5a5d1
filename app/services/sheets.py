"""Sheets: a batch as a table to print and fill in, and the filled-in table as reports."""

import csv
import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from io import StringIO
from pathlib import Path

from app.domain.clock import stamp
from app.domain.errors import Invalid
from app.domain.findings import Finding
from app.domain.reports import Failure, Report
from app.services.ask import Asked
from app.services.intake.csv_rows import Cell, armed

FILLED_IN = ("value", "failed", "note", "measured_by", "measured_at", "ref")
_SUGGESTION = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})")
_KNOWN = {"suggestion", "replicate", "key", "candidate", "abandoned", *FILLED_IN}
_LINE = 200
_LONGEST = {"measured_by": _LINE, "ref": _LINE, "failed": 2_000, "abandoned": 2_000, "note": 10_000}
_NO_RETRY = "!"
_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")


def sheet_of(asked: Asked) -> tuple[list[str], Iterator[list[Cell]]]:
    """One row per wanted measurement; the columns to fill in come last and are empty."""
    first = next(iter(asked.candidates.values()))
    shown = [*first.attributes, *first.features]
    header = ["suggestion", "replicate", "key", *shown, *FILLED_IN]

    def rows() -> Iterator[list[Cell]]:
        for one in asked.suggestions:
            candidate = asked.candidates[one.candidate]
            values = {**candidate.attributes, **candidate.features}
            cells = [values[name] for name in shown]
            for replicate in range(1, one.replicates + 1):
                yield [one.id, replicate, candidate.key, *cells, *[None] * len(FILLED_IN)]

    return header, rows()


def read_sheet(path: Path) -> list[Report]:
    """The reports of a filled-in sheet; rows without a value, a failure or an abandonment are passed over.

    A column `value` and one of `suggestion`, `key` and `candidate` are needed; unknown columns are passed over.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid([Finding("utf-8", "The sheet is not UTF-8; save it as CSV UTF-8.")]) from None
    if "\0" in text:
        raise Invalid([Finding("nul", "The sheet has NUL characters; it is no CSV file.")])
    header_line = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=header_line.count)
    try:
        lines = list(csv.reader(StringIO(text, newline=None), delimiter=delimiter, strict=True))
    except csv.Error:
        raise Invalid([Finding("csv", "The sheet cannot be read as CSV; check its quotes.")]) from None
    return _reports(lines, comma=delimiter == ";")


def _reports(lines: Sequence[Sequence[str]], *, comma: bool) -> list[Report]:
    header = [armed(name.strip()) for name in lines[0]] if lines else []
    missing = "value" not in header or not {"suggestion", "key", "candidate"} & set(header)
    if missing or len(set(header) & _KNOWN) != sum(name in _KNOWN for name in header):
        message = "The header needs the column `value`, one of `suggestion`, `key` and `candidate`, and none twice."
        raise Invalid([Finding("header", message, row=1)])
    findings: list[Finding] = []
    reports = []
    for row, cells in enumerate(lines[1:], start=2):
        if len(cells) not in (0, len(header)):
            findings.append(Finding("ragged", f"{len(cells)} cells under {len(header)} columns.", row=row))
            continue
        filled = {name: armed(cell.strip()) for name, cell in zip(header, cells, strict=False) if cell.strip()}
        report = _report(filled, row, findings, comma=comma)
        if report is not None:
            reports.append(report)
    if findings:
        raise Invalid(findings)
    return reports


def _report(filled: dict[str, str], row: int, findings: list[Finding], *, comma: bool) -> Report | None:
    said = [name for name in ("value", "failed", "abandoned") if name in filled]
    if not said:
        return None
    if len(said) > 1:
        findings.append(Finding("several", f"Fill in one of {', '.join(said)}.", row=row))
        return None
    place = _SUGGESTION.fullmatch(filled.get("suggestion", ""))
    key = filled.get("key") or filled.get("candidate")
    if "suggestion" in filled and place is None:
        findings.append(Finding("suggestion", "Not a suggestion such as 3-1.", row=row, column="suggestion"))
        return None
    if place is None and key is None:
        findings.append(Finding("which", "Neither a suggestion nor a candidate's key.", row=row))
        return None
    _check_texts(filled, row, findings)
    failed = filled.get("failed")
    return Report(
        suggestion=(int(place[1]), int(place[2])) if place else None,
        candidate=None if place else key,
        values=_values(filled, row, findings, comma=comma),
        replicate=_replicate(filled, row, findings) if place else None,
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
            message = "A decimal comma in doubt: write a point, or separate the columns by semicolons."
            findings.append(Finding("decimal-comma", message, row=row, column="value"))
            return ()
        text = text.replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        findings.append(Finding("number", "Not a finite number.", row=row, column="value"))
        return ()
    return (value,)


def _replicate(filled: dict[str, str], row: int, findings: list[Finding]) -> int | None:
    text = filled.get("replicate")
    if text is None:
        return None
    if not re.fullmatch(r"[1-9][0-9]{0,4}|100000", text):
        findings.append(Finding("replicate", "Not a number from 1.", row=row, column="replicate"))
        return None
    return int(text)


def _moment(filled: dict[str, str], row: int, findings: list[Finding]) -> str | None:
    text = filled.get("measured_at")
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return stamp(moment)
    except (ValueError, OverflowError):
        pass
    message = "Write date and time with a time zone, such as 2026-05-04T13:30+02:00."
    findings.append(Finding("time", message, row=row, column="measured_at"))
    return None


def _check_texts(filled: dict[str, str], row: int, findings: list[Finding]) -> None:
    """As long as JSON may have them, and on one line where they are names."""
    for column, most in _LONGEST.items():
        text = filled.get(column, "")
        if len(text) > most or (most == _LINE and not text.isprintable()):
            findings.append(Finding("text", f"At most {most} characters, all printable.", row=row, column=column))
