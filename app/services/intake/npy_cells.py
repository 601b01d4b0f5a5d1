"""The cells of a .npy array, looked at and converted a block at a time so that memory stays small."""

from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from app.domain.candidates import Column
from app.services.intake.cells import Floats
from app.services.intake.findings import Findings
from app.services.intake.npy_header import NpyHeader
from app.services.intake.table import Attribute

_BLOCK = 1 << 14
_EXACT_INTEGERS = 1 << 53
_Matrix: TypeAlias = npt.NDArray[Any]


def map_cells(path: Path, header: NpyHeader) -> _Matrix:
    """The array where it lies in the file."""
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


def check_cells(cells: _Matrix, columns: Sequence[Column], first_row: int, findings: Findings) -> None:
    """Every cell is a finite number that a double holds exactly; NaN is missing, which an attribute may be."""
    booleans = np.array([column.kind == "boolean" for column in columns])
    features = np.array([column.role == "feature" for column in columns])
    for rows, block in _blocks(cells):
        flaws = {
            ("not-finite", "not a finite number; give one"): _not_finite(block, features),
            ("not-exact", "an integer of 2^53 or more, which a double rounds; scale it"): _rounded(block),
            ("not-a-boolean", "not a boolean; give 0 or 1"): booleans & ~np.isin(block, (0, 1)) & ~_missing(block),
        }
        for (code, message), wrong in flaws.items():
            for position in np.flatnonzero(wrong.any(axis=0)).tolist():
                found = np.flatnonzero(wrong[:, position]) + rows.start + first_row
                findings.errors_in_rows(code, message, found, columns[position].name)


def feature_numbers(cells: _Matrix, columns: Sequence[Column]) -> Floats:
    """The features as little-endian doubles in C order: the file itself if it is just that."""
    chosen = [position for position, column in enumerate(columns) if column.role == "feature"]
    if len(chosen) == len(columns) and cells.dtype == np.dtype("<f8") and cells.flags.c_contiguous:
        return cells
    numbers = np.empty((len(cells), len(chosen)), dtype="<f8")
    for rows, block in _blocks(cells):
        numbers[rows] = block[:, chosen]
    return numbers


def attribute_values(cells: _Matrix, columns: Sequence[Column]) -> dict[str, list[Attribute]]:
    """The attributes as plain values, None for NaN."""
    return {
        column.name: [_plain(value, column) for value in cells[:, position].astype("<f8").tolist()]
        for position, column in enumerate(columns)
        if column.role == "attribute"
    }


def _blocks(cells: _Matrix) -> Iterator[tuple[slice, _Matrix]]:
    for start in range(0, len(cells), _BLOCK):
        rows = slice(start, min(start + _BLOCK, len(cells)))
        yield rows, cells[rows]


def _not_finite(block: _Matrix, features: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    return ~np.isfinite(block) & (features | ~_missing(block))


def _missing(block: _Matrix) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isnan(block))


def _rounded(block: _Matrix) -> npt.NDArray[np.bool_]:
    if block.dtype.kind not in "iu" or block.dtype.itemsize < 8:
        return np.zeros(block.shape, dtype=bool)
    below = block <= -_EXACT_INTEGERS if block.dtype.kind == "i" else np.zeros(block.shape, dtype=bool)
    return (block >= _EXACT_INTEGERS) | below


def _plain(value: float, column: Column) -> Attribute:
    if isnan(value):
        return None
    return bool(value) if column.kind == "boolean" else value
