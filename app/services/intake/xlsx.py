"""Spreadsheet files (.xlsx): the first sheet as rows of text, and rows as a spreadsheet file.

A spreadsheet file is a zip file, so a small one may hold gigabytes. What its parts say about their sizes is checked
before anything is read; no part can be longer than it says. Openpyxl builds some parts whole in memory, and may take
hours for a few kilobytes of formulas. So it reads only small files without formulas in the server, and all others in a
child process (`xlsx_child`). Cells are read one row at a time.
"""

import datetime as dt
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from io import FileIO
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from app.deadline import check_deadline
from app.domain.candidates import CellValue
from app.domain.errors import Finding, Invalid
from app.domain.limits import MOST_SHEET_CELLS, MOST_SHEET_ROWS
from app.services.intake.children import ChildTooSlow, run_child
from app.services.intake.csv_writing import csv_text
from app.services.memory import PER_COMPRESSED_BYTE

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_LEAST_MEMORY, _MOST_MEMORY = 128 << 20, 512 << 20  # bytes that the child process may allocate
_PER_UNPACKED_BYTE = 500  # an element of five bytes may become an object of kilobytes
CHILD_SECONDS = 120.0
_MOST_BYTES = 100 << 20  # uncompressed
_MOST_PARTS = 1_000
_MOST_ROWS = MOST_SHEET_ROWS + 1  # with the header
_MOST_ROWS_WRITTEN = 1_048_576  # a spreadsheet has no more
_MOST_CELLS = MOST_SHEET_CELLS
_MOST_CELLS_WRITTEN = 5_000_000
_MOST_FINDINGS = 100
_MOST_HARMLESS_BYTES = 2 << 20  # uncompressed
_MOST_ELEMENTS = 30_000  # that a harmless file has; one may take kilobytes
_MOST_ATTRIBUTES = 60_000
_MOST_READ_BYTES = 1 << 20  # at a time; the directory of a thousand parts takes a tenth of it
_PIECE, _OVERLAP = 1 << 16, 2_000
_FORMULA = re.compile(rb"<([^\s<>/:]+:)?f[\s/>]|\x00")  # or UTF-16, in which a formula looks different
_HARMFUL = re.compile(rb"""<!DOCTYPE|"[^"<]{1000}|'[^'<]{1000}""")  # entities, or a text that patterns run on for long
_TOO_LARGE = "The spreadsheet is too large. Save the table as CSV (UTF-8), or delete its other sheets."
_UNREADABLE = "The file cannot be read as .xlsx. Open it, save it again, or save it as CSV (UTF-8)."
_LITERAL = re.compile(r'"[^"]*"|[\\_*].')
"""What a number format shows as it is: quoted or escaped text, a space as wide as a character, a fill."""
_BRACKETED = re.compile(r"\[([^\]]*)\]")
_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_BROKEN = (zipfile.BadZipFile, zlib.error, ParseError, LookupError, ValueError, TypeError, AttributeError, OSError)


def xlsx_rows(path: Path) -> Iterator[list[str]]:
    """The rows of the first sheet as texts: numbers as Python writes them, dates as 2026-01-31, percentages with %."""
    _check_size(path)
    try:
        is_harmless = _is_harmless(path)
    except (NotImplementedError, *_BROKEN):
        raise _refusal(_UNREADABLE) from None
    yield from read_rows(path) if is_harmless else _rows_from_child(path)


def xlsx_as_csv(path: Path) -> Path:
    """The first sheet as a CSV file beside the original, for the reader of CSV files."""
    copy = path.with_name(f"{path.name}.csv")
    rows = xlsx_rows(path)
    header = next(rows, [])
    with copy.open("w", encoding="utf-8", newline="") as file:
        file.writelines(csv_text(header, rows))
    return copy


def xlsx_memory(path: Path) -> int:
    """The bytes of memory that reading it takes, about."""
    try:
        is_harmless = _is_harmless(path)
    except (Invalid, NotImplementedError, *_BROKEN):  # it will be refused
        is_harmless = True
    return PER_COMPRESSED_BYTE * path.stat().st_size if is_harmless else child_memory(path)


def child_memory(path: Path) -> int:
    """The bytes that the child process may allocate to read it."""
    with _CarefulFile(path) as content, zipfile.ZipFile(content) as file:
        unpacked = sum(part.file_size for part in file.infolist())
    return min(_MOST_MEMORY, _LEAST_MEMORY + _PER_UNPACKED_BYTE * unpacked)


def read_rows(path: Path) -> Iterator[list[str]]:
    """The rows, read in this process."""
    from openpyxl import load_workbook  # noqa: PLC0415  (most servers never need it, and it takes megabytes)

    try:
        _check_formulas(path)
        with _CarefulFile(path) as file:
            workbook = load_workbook(file, read_only=True, data_only=True)
            yield from _trimmed(_texts(workbook.worksheets[0].iter_rows()))
    except Invalid:
        raise
    except NotImplementedError:
        raise _refusal("The file is encrypted. Save it without a password.") from None
    except _BROKEN:
        raise _refusal(_UNREADABLE) from None


def _rows_from_child(path: Path) -> Iterator[list[str]]:
    """The rows, read by a child process, which leaves them in a CSV file or says why it cannot."""
    rows = path.with_name(f"{path.name}.rows")
    try:
        answer = run_child("app.services.intake.xlsx_child", json.dumps([str(path), str(rows)]).encode(), CHILD_SECONDS)
    except ChildTooSlow:
        raise _refusal(f"Reading the file took more than {CHILD_SECONDS:g} seconds. Save it as CSV (UTF-8).") from None
    if answer is None:
        raise _refusal(_UNREADABLE)
    findings = [Finding(**finding) for finding in json.loads(answer)]
    if findings:
        raise Invalid(findings)
    with rows.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


class _CarefulFile(FileIO):
    """A file that is read until the deadline, and in small pieces: the directory of a zip file is read at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        check_deadline()
        content = super().read(size if size is not None and 0 <= size <= _MOST_READ_BYTES else _MOST_READ_BYTES + 1)
        if len(content) > _MOST_READ_BYTES:
            raise _refusal(_TOO_LARGE)
        return content


def write_xlsx(path: Path, header: Sequence[str], rows: Iterable[Sequence[CellValue]]) -> None:
    """One sheet. Texts are texts: no spreadsheet program reads them as numbers, dates or formulas."""
    from openpyxl import Workbook  # noqa: PLC0415  (most servers never need it, and it takes megabytes)
    from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415

    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet("sheet")
    sheet.freeze_panes = "A2"
    new_cell = partial(WriteOnlyCell, sheet)
    for number, row in enumerate(chain([header], rows), start=1):
        check_deadline()
        if number * len(header) > _MOST_CELLS_WRITTEN or number > _MOST_ROWS_WRITTEN:
            sheet.close()
            raise _refusal("The table is too large for .xlsx. Use `format=csv`, or filter it.")
        sheet.append([_cell(new_cell, value) for value in row])
    workbook.save(path)


def _check_size(path: Path) -> None:
    try:
        with _CarefulFile(path) as content, zipfile.ZipFile(content) as file:
            parts = file.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise _refusal("The file is not an .xlsx file. Save it as .xlsx, or as CSV (UTF-8).") from None
    if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > _MOST_BYTES:
        raise _refusal(_TOO_LARGE)


def _is_harmless(path: Path) -> bool:
    """Whether openpyxl can read it with little memory and in little time: few elements and no formulas."""
    elements, attributes = 0, 0
    with _CarefulFile(path) as content, zipfile.ZipFile(content) as file:
        if sum(part.file_size for part in file.infolist()) > _MOST_HARMLESS_BYTES:
            return False
        for piece in _pieces(file):
            elements += piece.count(b"<")
            attributes += piece.count(b"=")
            are_many = elements > _MOST_ELEMENTS or attributes > _MOST_ATTRIBUTES
            if are_many or _FORMULA.search(piece) or _HARMFUL.search(piece):
                return False
    return True


def _pieces(file: zipfile.ZipFile) -> Iterator[bytes]:
    """What all parts unpack to, in pieces that overlap, so that a pattern is whole in one of them."""
    for name in file.namelist():
        with file.open(name) as part:
            end = b""
            while piece := part.read(_PIECE):
                yield end + piece
                end = piece[-_OVERLAP:]


def _check_formulas(path: Path) -> None:
    """A formula whose result is not in the file would look like an empty cell."""
    if not _has_formulas(path):
        return
    from openpyxl import load_workbook  # noqa: PLC0415

    with _CarefulFile(path) as results, _CarefulFile(path) as formulas:
        pairs = zip(
            _bounded(load_workbook(results, read_only=True, data_only=True).worksheets[0].iter_rows()),
            load_workbook(formulas, read_only=True).worksheets[0].iter_rows(),
            strict=True,
        )
        unknown = [
            (number, formula.column_letter)
            for number, (shown, written) in enumerate(pairs, start=1)
            for result, formula in zip(shown, written, strict=True)
            if formula.data_type == "f" and result.value is None
        ]
    if unknown:
        message = "This formula has no result in the file. Write the number, or save the file in a spreadsheet program."
        raise Invalid([Finding("formula", message, row, column) for row, column in unknown[:_MOST_FINDINGS]])


def _has_formulas(path: Path) -> bool:
    with _CarefulFile(path) as content, zipfile.ZipFile(content) as file:
        return any(_FORMULA.search(piece) for piece in _pieces(file))


def _bounded(rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """The rows one by one, up to the limits; cells that are only declared count, too."""
    cells = 0
    for number, row in enumerate(rows, start=1):
        check_deadline()
        cells += len(row)
        if number > _MOST_ROWS or cells > _MOST_CELLS:
            raise _refusal("The spreadsheet has too many cells. Save the table as CSV (UTF-8).")
        yield row


def _texts(rows: Iterable[Sequence[Any]]) -> Iterator[list[str]]:
    return ([_text(cell) for cell in row] for row in _bounded(rows))


def _trimmed(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Without what spreadsheets keep beside and below a table: every row as wide as the header, no empty end."""
    width, empty = 0, 0  # rows that are left out unless another follows
    for row in rows:
        while len(row) > width and not row[-1]:
            row.pop()
        if not any(row):
            empty += 1
            continue
        yield from ([""] * width for _ in range(empty))
        width, empty = width or len(row), 0
        yield row + [""] * (width - len(row))


def _text(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, int | float):
        return _number_text(value, _is_percentage(value, str(cell.number_format)))
    return str(value)


def _is_percentage(value: float, number_format: str) -> bool | None:
    """Whether the cell shows a hundred times its value; None if its format leaves that to conditions of its own.

    A literal percent sign, as in `0.0" %"`, scales nothing.
    """
    bare = _LITERAL.sub("", number_format)
    has_conditions = any(inside[:1] in ("<", ">", "=") for inside in _BRACKETED.findall(bare))
    sections = ["%" in section for section in _BRACKETED.sub("", bare).split(";")[:3]]
    if has_conditions:
        return sections[0] if len(set(sections)) == 1 else None
    position = 0 if value > 0 else 1 if value < 0 else 2
    return sections[position] if position < len(sections) else sections[0]


def _number_text(value: float, is_percentage: bool | None) -> str:
    if is_percentage is None:
        return f"{value!r} or {value!r} %"  # nobody can read this, so it is refused
    if is_percentage:
        return f"{(Decimal(repr(value)) * 100).normalize():f} %"
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else repr(value)


def _cell(new: Callable[..., Any], value: CellValue) -> Any:
    cell = new(value=_UNFIT.sub("\ufffd", value) if isinstance(value, str) else value)
    if isinstance(value, str):
        cell.data_type, cell.number_format = "s", "@"  # whatever it begins with
    return cell


def _refusal(message: str) -> Invalid:
    return Invalid([Finding("xlsx", message)])
