"""Reads candidates from a .npy array, the fast way to send a million rows; keys and column names come separately.

The header is parsed strictly, without evaluating it and without pickle. The cells are checked and converted a block at
a time, so that memory stays small.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import BinaryIO

import numpy as np

from app.arrays import Array, BoolArray, FloatArray
from app.domain.candidates import CellValue, Column, ColumnKind
from app.domain.errors import InvalidCandidates
from app.services.intake.cell_types import INEXACT_INTEGER, NOT_EXACT, NOT_FINITE, Flaw, encode_texts
from app.services.intake.columns import EXPENSE_OUT_OF_RANGE, Declared, check_names, is_out_of_range
from app.services.intake.findings import Findings, refuse
from app.services.intake.keys import check_key_count, check_keys, check_packed_keys
from app.services.intake.limits import IntakeLimits, check_size
from app.services.intake.table import CandidateTable, scratch_array
from app.services.intake.warnings import warn_about_features
from app.storage.packed_strings import PackedStrings

_FIRST_ROW = 1
_ROWS_PER_BLOCK = 1 << 14

_MAGIC = b"\x93NUMPY"
_LENGTH_FORMATS = {(1, 0): "<H", (2, 0): "<I"}
_LONGEST_HEADER = 4_096
_MEMBER = r"\s*'(?:descr|fortran_order|shape)'\s*:\s*(?:'[^']*'|True|False|\([0-9,\s]*\))\s*"
_HEADER = re.compile(rf"\{{{_MEMBER},{_MEMBER},{_MEMBER},?\s*\}}\s*")
_DESCR = re.compile(r"'descr'\s*:\s*'([^']*)'")
_ORDER = re.compile(r"'fortran_order'\s*:\s*(True|False)")
_SHAPE = re.compile(r"'shape'\s*:\s*\(\s*([0-9]{1,12})\s*,\s*([0-9]{1,12})\s*,?\s*\)")
_DTYPE = re.compile(r"[<>|=]?(?:f[248]|[iu][1248]|b1)")

_NOT_A_BOOLEAN = Flaw("not-a-boolean", "This column holds booleans. Write 0 or 1.")


def read_npy(
    path: Path,
    keys: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    declared: Declared | None = None,
    limits: IntakeLimits | None = None,
) -> CandidateTable:
    """The candidates in a .npy file, one per row; the columns are called x1, x2, … unless `names` are given.

    If the file holds little-endian doubles in C order, `numbers` is a read-only memory map of it. The file must then
    exist as long as the table does (on POSIX it may be unlinked). Other long lists are converted into another file.
    """
    declared, limits, findings = declared or Declared(), limits or IntakeLimits(), Findings()
    header = _read_header(path)
    check_size(header.rows, max(1, header.columns), limits)
    columns = _columns(header, names, declared, limits, findings)
    checked_keys = _checked_keys(keys, header.rows, limits, findings)
    findings.stop_if_any()
    cells = _map_cells(path, header)
    _check_cells(cells, columns, findings)
    findings.stop_if_any()
    numbers, codes = _feature_numbers(cells, columns), np.empty((header.rows, 0), dtype="<i4")
    warn_about_features(columns, numbers, codes, _FIRST_ROW, findings)
    attributes = _attribute_values(cells, columns)
    return CandidateTable(columns, numbers, codes, checked_keys, attributes, findings.warnings, _FIRST_ROW)


@dataclass(frozen=True)
class _Header:
    """Where the numbers of a two-dimensional array are in the file, and in which format."""

    rows: int
    columns: int
    dtype: np.dtype[np.generic]
    fortran_order: bool
    offset: int


def _read_header(path: Path) -> _Header:
    """The header, checked against the size of the file."""
    with path.open("rb") as file:
        text = _header_text(file)
        offset = file.tell()
    header = _parse_header(text, offset)
    expected = offset + header.rows * header.columns * header.dtype.itemsize
    if path.stat().st_size != expected:
        raise refuse("npy-size", "The size of the file does not match its header. Write it again with numpy.save.")
    return header


def _header_text(file: BinaryIO) -> str:
    start = file.read(len(_MAGIC) + 2)
    if len(start) < len(_MAGIC) + 2 or not start.startswith(_MAGIC):
        raise refuse("not-npy", "This is not a .npy file. Write it with numpy.save.")
    length_format = _LENGTH_FORMATS.get((start[-2], start[-1]))
    if length_format is None:
        message = "Only versions 1.0 and 2.0 of the .npy format can be read. Write the file with numpy.save."
        raise refuse("npy-version", message)
    size = struct.calcsize(length_format)
    (length,) = struct.unpack(length_format, file.read(size).ljust(size, b"\0"))
    if length > _LONGEST_HEADER:
        raise _bad_header()
    return file.read(length).decode("latin-1")


def _parse_header(text: str, offset: int) -> _Header:
    descr, order, shape = _DESCR.search(text), _ORDER.search(text), _SHAPE.search(text)
    if not _HEADER.fullmatch(text) or not descr or not order:
        raise _bad_header()
    if not shape:
        message = "The array must have two dimensions. Give one row per candidate and one column per feature."
        raise refuse("npy-shape", message)
    if not _DTYPE.fullmatch(descr[1]):
        message = "The array must hold booleans, integers or floats of at most 64 bits. Convert it, say to float64."
        raise refuse("npy-dtype", message)
    return _Header(int(shape[1]), int(shape[2]), np.dtype(descr[1]), order[1] == "True", offset)


def _bad_header() -> InvalidCandidates:
    return refuse("npy-header", "The header of the .npy file cannot be read. Write the file with numpy.save.")


def _columns(
    header: _Header, names: Sequence[str] | None, declared: Declared, limits: IntakeLimits, findings: Findings
) -> tuple[Column, ...]:
    names = names if names is not None else [f"x{number}" for number in range(1, header.columns + 1)]
    check_names(names, limits, findings)
    if len(names) != header.columns:
        message = (
            f"Names and columns differ in number: {len(names):,} and {header.columns:,}. Give one name per column."
        )
        findings.error("name-count", message)
    declared.check(names, findings)
    stated: ColumnKind = "boolean" if header.dtype.kind == "b" else "number"
    columns = tuple(
        Column(name, declared.kind(name) or stated, declared.role(name), expense=declared.expenses.get(name))
        for name in names
    )
    for column in columns:
        if column.role == "key" or column.kind == "text":
            message = "A .npy file holds only numbers. Send keys in a file of their own, and a table with texts as CSV."
            findings.error("npy-numbers-only", message, column=column.name)
    return columns


def _checked_keys(
    keys: Sequence[str] | None, rows: int, limits: IntakeLimits, findings: Findings
) -> Sequence[str] | None:
    if keys is None:
        return None
    check_key_count(keys, rows, findings)
    if not isinstance(keys, PackedStrings):
        return check_keys(encode_texts(keys), None, _FIRST_ROW, limits, findings)
    check_packed_keys(keys, _FIRST_ROW, limits, findings)
    return keys


def _map_cells(path: Path, header: _Header) -> Array:
    """The cells, mapped from the file."""
    return np.asarray(
        np.memmap(
            path,
            dtype=header.dtype,
            mode="r",
            offset=header.offset,
            shape=(header.rows, header.columns),
            order="F" if header.fortran_order else "C",
        )
    )


def _check_cells(cells: Array, columns: Sequence[Column], findings: Findings) -> None:
    """Every cell is a finite number that a double holds exactly; an attribute may also be NaN, which is missing.

    A cost or duration is there, and not negative.
    """
    booleans = np.array([column.kind == "boolean" for column in columns])
    features = np.array([column.role == "feature" or column.expense is not None for column in columns])
    expenses = np.array([column.expense is not None for column in columns])
    for rows, block in _blocks(cells):
        missing = np.isnan(block)
        masks = {
            NOT_FINITE: ~np.isfinite(block) & (features | ~missing),
            NOT_EXACT: _is_inexact(block),
            EXPENSE_OUT_OF_RANGE: _are_out_of_range(block, expenses),
            _NOT_A_BOOLEAN: booleans & ~np.isin(block, (0, 1)) & ~missing,
        }
        for flaw, wrong in masks.items():
            for position in np.flatnonzero(wrong.any(axis=0)).tolist():
                wrong_rows = np.flatnonzero(wrong[:, position]) + rows.start + _FIRST_ROW
                findings.errors_in_rows(flaw.code, flaw.message, wrong_rows, columns[position].name)


def _are_out_of_range(block: Array, expenses: BoolArray) -> BoolArray:
    """Which costs and durations cannot be."""
    wrong = np.zeros(block.shape, dtype=bool)
    wrong[:, expenses] = is_out_of_range(block[:, expenses].astype("<f8"))
    return wrong


def _is_inexact(block: Array) -> BoolArray:
    if block.dtype.kind not in "iu" or block.dtype.itemsize < 8:
        return np.zeros(block.shape, dtype=bool)
    if block.dtype.kind == "u":
        return np.asarray(block >= INEXACT_INTEGER)
    return (block >= INEXACT_INTEGER) | (block <= -INEXACT_INTEGER)


def _feature_numbers(cells: Array, columns: Sequence[Column]) -> FloatArray:
    """The features as little-endian doubles in C order: the mapped file itself if it is exactly that."""
    positions = [position for position, column in enumerate(columns) if column.role == "feature"]
    if len(positions) == len(columns) and cells.dtype == np.dtype("<f8") and cells.flags.c_contiguous:
        return cells
    numbers = scratch_array(len(cells), len(positions), "<f8")
    for rows, block in _blocks(cells):
        numbers[rows] = block[:, positions]
    return numbers


def _attribute_values(cells: Array, columns: Sequence[Column]) -> dict[str, list[CellValue]]:
    """The attributes as plain values, None for NaN."""
    return {
        column.name: [_attribute(value, column) for value in cells[:, position].astype("<f8").tolist()]
        for position, column in enumerate(columns)
        if column.role == "attribute"
    }


def _attribute(value: float, column: Column) -> CellValue:
    if isnan(value):
        return None
    return bool(value) if column.kind == "boolean" else value


def _blocks(cells: Array) -> Iterator[tuple[slice, Array]]:
    for start in range(0, len(cells), _ROWS_PER_BLOCK):
        rows = slice(start, min(start + _ROWS_PER_BLOCK, len(cells)))
        yield rows, cells[rows]
