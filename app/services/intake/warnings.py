"""Warnings about the features of a table that is valid but perhaps not what was meant."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.arrays import BoolArray, CodeArray, FloatArray, IndexArray
from app.domain.candidates import Column
from app.services.intake.findings import Findings

_BLOCK = 1 << 15
_EXTREME = 1e100
_FEW_LEVELS = 50


def warn_about_features(
    columns: Sequence[Column], numbers: FloatArray, codes: CodeArray, first_row: int, findings: Findings
) -> None:
    """Point out constant and extreme features, texts that look like identifiers, and repeated rows."""
    features = [column for column in columns if column.role == "feature"]
    _warn_about_numbers([column for column in features if column.kind != "text"], numbers, findings)
    _warn_about_texts([column for column in features if column.kind == "text"], len(codes), findings)
    _warn_about_repeated_rows(numbers, codes, first_row, findings)


def _warn_about_numbers(features: Sequence[Column], numbers: FloatArray, findings: Findings) -> None:
    blocks = [numbers[start : start + _BLOCK] for start in range(0, len(numbers), _BLOCK)]
    lowest = np.min([block.min(axis=0) for block in blocks], axis=0)
    highest = np.max([block.max(axis=0) for block in blocks], axis=0)
    for column, low, high in zip(features, lowest, highest, strict=True):
        if low == high:
            _warn_about_constant(column, len(numbers), findings)
        if max(-low, high) > _EXTREME:
            message = f"Some values are beyond ±{_EXTREME:g}. Check the unit."
            findings.warning("extreme-number", message, column=column.name)


def _warn_about_texts(features: Sequence[Column], rows: int, findings: Findings) -> None:
    for column in features:
        if len(column.levels) == 1:
            _warn_about_constant(column, rows, findings)
        if len(column.levels) > max(_FEW_LEVELS, rows / 2):
            findings.warning(
                "looks-like-identifier",
                f"{len(column.levels):,} different texts in {rows:,} rows look like an identifier."
                " If they are, declare the column as the key or as an attribute.",
                column=column.name,
            )


def _warn_about_constant(column: Column, rows: int, findings: Findings) -> None:
    if rows > 1:
        message = "Every row has the same value, so this feature does not tell candidates apart. You can leave it out."
        findings.warning("constant-feature", message, column=column.name)


def _warn_about_repeated_rows(numbers: FloatArray, codes: CodeArray, first_row: int, findings: Findings) -> None:
    """Compare rows with equal hashes only; two rows with the same hash may still differ."""
    hashes = _row_hashes(numbers, codes)
    order = np.argsort(hashes, kind="stable")
    same_hash = np.flatnonzero(np.diff(hashes[order]) == 0)
    earlier, later = order[same_hash], order[same_hash + 1]
    equal = _equal_rows(numbers, earlier, later) & _equal_rows(codes, earlier, later)
    if equal.any():
        first = int(np.argmin(np.where(equal, later, len(hashes))))
        row, earlier_row = int(later[first]) + first_row, int(earlier[first]) + first_row
        repeats = int(equal.sum())
        rows_repeat = "1 row repeats" if repeats == 1 else f"{repeats:,} rows repeat"
        findings.warning(
            "repeated-features",
            f"{rows_repeat} the features of an earlier row. The first is row {row}, which repeats row {earlier_row}."
            " Check whether a column that tells them apart is missing.",
            row=row,
        )


def _row_hashes(numbers: FloatArray, codes: CodeArray) -> npt.NDArray[np.uint64]:
    """One 64-bit hash per row: a random multiple of each cell's mixed bits, summed modulo 2^64."""
    weights = np.random.default_rng(0).integers(1 << 63, size=numbers.shape[1] + codes.shape[1], dtype=np.uint64)
    weights |= np.uint64(1)
    hashes = np.empty(len(numbers), dtype=np.uint64)
    for start in range(0, len(numbers), _BLOCK):
        block = slice(start, start + _BLOCK)
        bits = (numbers[block] + 0.0).view(np.uint64)  # + 0.0 turns −0.0 into 0.0, which it equals
        bits = np.hstack([bits, codes[block].astype(np.uint64)])
        bits ^= bits >> np.uint64(32)
        hashes[block] = (bits * weights).sum(axis=1, dtype=np.uint64)
    return hashes


def _equal_rows(values: FloatArray | CodeArray, left: IndexArray, right: IndexArray) -> BoolArray:
    """Whether the rows of each pair are equal, a block at a time."""
    equal = np.empty(len(left), dtype=bool)
    for start in range(0, len(left), _BLOCK):
        block = slice(start, start + _BLOCK)
        equal[block] = (values[left[block]] == values[right[block]]).all(axis=1)
    return equal
