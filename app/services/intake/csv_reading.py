"""Reads candidates from a CSV file: UTF-8; comma, semicolon or tab between the cells; the header is row 1.

The steps, each in blocks so that memory stays small:

    lines      the file in decoded lines, without a byte order mark
    records    lines split into cells, counted as a spreadsheet counts rows
    blocks     records under the header that fit it
    columns    the cells of each column: numbers, or texts once one cell is not a number
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from app.arrays import FloatArray
from app.deadline import check_deadline
from app.services.intake.cell_types import Cells, NumberCells, RawColumn, TextEncoder, exact_numbers
from app.services.intake.columns import Declared, check_names
from app.services.intake.csv_writing import unescape_formula
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import IntakeLimits, check_size
from app.services.intake.measured_values import may_be_thousand
from app.services.intake.table import CandidateTable, build_table

_HEADER_ROW = 1
_ROWS_PER_BLOCK = 256  # small enough for the processor's cache: a quarter faster than 8192
_BYTES_PER_CHUNK = 1 << 18
_LONGEST_LINE = 16 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_QUOTED = re.compile(r'"[^"]*"?')
_DELIMITERS = (",", ";", "\t")


def read_csv(path: Path, declared: Declared | None = None, limits: IntakeLimits | None = None) -> CandidateTable:
    """The candidates in a CSV file; raises InvalidCandidates with the row and column of every mistake.

    A column is read as numbers until one cell is not a number. If that happens after the first block, the texts of the
    earlier cells are gone, so the file is read again with that column as text. This is rare, and it saves holding every
    number as text.
    """
    declared, limits = declared or Declared(), limits or IntakeLimits()
    reading = _read(path, declared, limits, text_columns=frozenset())
    if late_texts := reading.late_texts():
        reading = _read(path, declared, limits, text_columns=late_texts)
    return build_table(reading.columns(), _HEADER_ROW + 1, declared, limits, reading.findings)


class _ColumnReader:
    """Collects one column block by block: numbers until one cell is not a number, texts from then on."""

    def __init__(self, *, as_text: bool, commas: bool) -> None:
        self._commas = commas
        self._signs: set[str] = set()
        self._fractions = False
        self._numbers: list[FloatArray] = []
        self._texts = TextEncoder() if as_text else None

    def add(self, cells: Sequence[str]) -> None:
        if self._texts is None:
            numbers = self._read_numbers(cells)
            if numbers is not None:
                self._numbers.append(numbers)
                return
            self._texts = TextEncoder()
        self._texts.add([unescape_formula(cell) for cell in cells] if "'" in "".join(cells) else cells)

    def _read_numbers(self, cells: Sequence[str]) -> FloatArray | None:
        """With semicolons between the cells, a column may have decimal commas; never commas and points.

        There, 1.234 may be a thousand: points are decimal points if a cell such as 1.25 says so, else the whole column
        decides.
        """
        if not self._commas:
            return exact_numbers(cells)
        self._signs |= {sign for sign in ".," if any(sign in cell for cell in cells)}
        if len(self._signs) > 1 or ("." in self._signs and not self._has_fractions(cells)):
            return None
        return exact_numbers([cell.replace(",", ".", 1) for cell in cells])

    def _has_fractions(self, cells: Sequence[str]) -> bool:
        self._fractions = self._fractions or any("." in cell and not may_be_thousand(cell) for cell in cells)
        return self._fractions

    def is_late_text(self) -> bool:
        """Whether the texts of the first cells are lost."""
        return bool(self._numbers) and self._texts is not None

    def cells(self) -> Cells:
        if self._texts is None:
            return NumberCells(np.concatenate([np.empty(0), *self._numbers]))
        return self._texts.cells()


@dataclass(frozen=True)
class _Reading:
    """One pass over the file."""

    names: Sequence[str]
    readers: Sequence[_ColumnReader]
    decimal_comma: bool
    findings: Findings

    def late_texts(self) -> frozenset[str]:
        pairs = zip(self.names, self.readers, strict=True)
        return frozenset(name for name, reader in pairs if reader.is_late_text())

    def columns(self) -> list[RawColumn]:
        pairs = zip(self.names, self.readers, strict=True)
        return [RawColumn(name, reader.cells(), decimal_comma=self.decimal_comma) for name, reader in pairs]


def _read(path: Path, declared: Declared, limits: IntakeLimits, text_columns: Set[str]) -> _Reading:
    records, findings = _Records(path), Findings()
    names = _header(records, limits, findings)
    commas = records.delimiter == ";"
    readers = [_ColumnReader(as_text=name in text_columns or declared.is_text(name), commas=commas) for name in names]
    for block in _fitting_blocks(records, names, limits, findings):
        for reader, cells in zip(readers, zip(*block, strict=True), strict=True):
            reader.add(cells)
    findings.stop_if_any()
    return _Reading(names, readers, commas, findings)


def _header(records: _Records, limits: IntakeLimits, findings: Findings) -> list[str]:
    header = records.block(1)
    if not header or not any(header[0]):
        raise refuse("no-header", "The first row is empty. Write the names of the columns there.", row=_HEADER_ROW)
    if header[0][0].lower().startswith("sep="):
        raise refuse("no-header", "Delete the first row: the separator is recognised without it.", row=_HEADER_ROW)
    names = [unescape_formula(name) for name in header[0]]
    check_names(names, limits, findings, row=_HEADER_ROW)
    findings.stop_if_any()
    return names


def _fitting_blocks(
    records: _Records, names: Sequence[str], limits: IntakeLimits, findings: Findings
) -> Iterator[list[list[str]]]:
    """The rows under the header in blocks; a row that does not fit the header is left out and reported.

    Spreadsheets write empty rows (nothing, or separators only) after the last candidate. These are no mistake.
    """
    shape = _Shape(names, findings)
    header_rows = records.rows
    while block := records.block(_ROWS_PER_BLOCK):
        check_deadline()
        rows = shape.fitting(block, first_row=records.rows - len(block) + 1)
        check_size(max(1, records.rows - header_rows - shape.trailing_empty), len(names), limits)
        if rows:
            yield rows


class _Shape:
    """Finds the rows that do not fit the header: empty, too short or too long."""

    def __init__(self, names: Sequence[str], findings: Findings) -> None:
        self._names = names
        self._findings = findings
        self._empty_rows: list[int] = []

    @property
    def trailing_empty(self) -> int:
        """How many empty rows follow the last row that was not empty."""
        return len(self._empty_rows)

    def fitting(self, block: list[list[str]], first_row: int) -> list[list[str]]:
        """The rows of a block that fit; a block without a mistake is returned as it is."""
        if not self._empty_rows and set(map(len, block)) == {len(self._names)} and all(map(any, block)):
            return block
        return [record for row, record in enumerate(block, start=first_row) if self._fits(record, row)]

    def _fits(self, record: list[str], row: int) -> bool:
        if not any(record):
            self._empty_rows.append(row)
            return False
        for empty_row in self._empty_rows:
            self._findings.error("empty-row", "This row is empty, but candidates follow it. Delete it.", row=empty_row)
        self._empty_rows.clear()
        return self._has_full_width(record, row)

    def _has_full_width(self, record: list[str], row: int) -> bool:
        cells, width = len(record), len(self._names)
        if cells < width:
            message = f"This row has {cells} of {width} cells. Fill in the missing ones, from this column on."
            self._findings.error("ragged-row", message, row=row, column=self._names[cells])
        elif cells > width:
            message = (
                f"This row has {cells} cells, but the header has {width}. Write 83.1 instead of 83,1, and put a text"
                " that contains the separator in quotes."
            )
            self._findings.error("ragged-row", message, row=row, column=self._names[-1])
        return cells == width


class _Records:
    """The records of a file, each a list of cells."""

    def __init__(self, path: Path) -> None:
        self._records = self._split(_lines(path))
        self.delimiter = ","
        self.rows = 0
        """How many records were read: the row in which a spreadsheet shows the last of them."""

    def block(self, size: int) -> list[list[str]]:
        """The next records, at most `size`; none at the end of the file."""
        block: list[list[str]] = []
        try:
            block.extend(islice(self._records, size))  # keeps the records before a mistake, so that its row is known
        except _Unreadable as mistake:
            raise refuse(mistake.code, mistake.message, row=self.rows + len(block) + 1) from None
        except csv.Error as error:
            raise refuse("broken-csv", _csv_message(error), row=self.rows + len(block) + 1) from None
        self.rows += len(block)
        return block

    def _split(self, lines: Iterator[str]) -> Iterator[list[str]]:
        first = next(lines, "")
        self.delimiter = _delimiter(first)
        yield from csv.reader(chain([first], lines), delimiter=self.delimiter, strict=True)


def _delimiter(header: str) -> str:
    """The separator that the header contains most often outside quotes; a comma if there is none."""
    unquoted = _QUOTED.sub("", header)
    return max(_DELIMITERS, key=unquoted.count)


def _csv_message(error: csv.Error) -> str:
    """Our own words: the message of the csv module could quote the file."""
    if "field limit" in str(error):
        return f"A cell has more than {csv.field_size_limit():,} characters. Check that every quotation mark is closed."
    return "A quotation mark is missing or misplaced. Close every quoted cell, and double quotation marks inside it."


class _Unreadable(Exception):
    """A line that is not text; `_Records` adds the row."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code)
        self.code = code
        self.message = message


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        mark = file.read(len(_BYTE_ORDER_MARK))
        if mark.startswith(b"PK\x03"):
            message = "This is a spreadsheet file. Send it as .xlsx (by its Content-Type), or save it as CSV in UTF-8."
            raise _Unreadable("spreadsheet", message)
        if mark.startswith(_UTF_16_MARKS):
            raise _Unreadable("not-utf-8", "The file is UTF-16. Save it as CSV in UTF-8.")
        if mark != _BYTE_ORDER_MARK:
            file.seek(0)
        for chunk in _whole_lines(file):
            yield from _decoded(chunk)


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The file in chunks that end at the end of a line."""
    rest = b""
    while piece := file.read(_BYTES_PER_CHUNK):
        lines, newline, tail = piece.rpartition(b"\n")
        if newline:
            yield rest + lines + newline
            rest = tail
        else:
            rest += piece
        if len(rest) > _LONGEST_LINE:
            message = f"A line has more than {_LONGEST_LINE:,} bytes. Check that the file is CSV with one row per line."
            raise _Unreadable("line-too-long", message)
    if rest:
        yield rest


def _decoded(chunk: bytes) -> Iterator[str]:
    """The lines of a chunk; a chunk with a mistake is decoded line by line, so that the lines before it come out."""
    try:
        if b"\0" not in chunk:
            yield from StringIO(chunk.decode(), newline="")
            return
    except UnicodeDecodeError:
        pass
    for line in chunk.splitlines(keepends=True):
        if b"\0" in line:
            raise _Unreadable("broken-text", "This row contains a NUL. Remove it, or save the file as CSV in UTF-8.")
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise _Unreadable("not-utf-8", "This row is not UTF-8. Save the file as CSV in UTF-8.") from None
