"""Warnings about a table that is valid but perhaps not what was meant."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.domain.candidates import Column
from app.services.intake.cells import Codes, Floats
from app.services.intake.findings import Findings

BLOCK = 1 << 15
_EXTREME = 1e100
_FEW_LEVELS = 50


def note_oddities(columns: Sequence[Column], numbers: Floats, codes: Codes, first_row: int, findings: Findings) -> None:
    """Constant and extreme features, texts that look like identifiers, repeated feature rows."""
    features = [column for column in columns if column.role == "feature"]
    _note_numbers([column for column in features if column.kind != "text"], numbers, findings)
    _note_texts([column for column in features if column.kind == "text"], len(codes), findings)
    _note_repeated_rows(numbers, codes, first_row, findings)


def _note_numbers(features: Sequence[Column], numbers: Floats, findings: Findings) -> None:
    blocks = [numbers[start : start + BLOCK] for start in range(0, len(numbers), BLOCK)]
    lowest = np.min([block.min(axis=0) for block in blocks], axis=0)
    highest = np.max([block.max(axis=0) for block in blocks], axis=0)
    for column, low, high in zip(features, lowest, highest, strict=True):
        if low == high:
            _note_constant(column, len(numbers), findings)
        if max(-low, high) > _EXTREME:
            findings.warning("extreme-number", f"magnitudes above {_EXTREME:g}; check the unit", column=column.name)


def _note_texts(features: Sequence[Column], rows: int, findings: Findings) -> None:
    for column in features:
        if len(column.levels) == 1:
            _note_constant(column, rows, findings)
        if len(column.levels) > max(_FEW_LEVELS, rows / 2):
            findings.warning(
                "looks-like-identifier",
                f"{len(column.levels)} distinct texts in {rows} rows looks like an identifier;"
                " make it the key or an attribute",
                column=column.name,
            )


def _note_constant(column: Column, rows: int, findings: Findings) -> None:
    if rows > 1:
        findings.warning("constant-feature", "the same value in every row tells nothing apart", column=column.name)


def _note_repeated_rows(numbers: Floats, codes: Codes, first_row: int, findings: Findings) -> None:
    hashes = _row_hashes(numbers, codes)
    order = np.argsort(hashes, kind="stable")
    same_hash = np.flatnonzero(np.diff(hashes[order]) == 0)
    earlier, later = order[same_hash], order[same_hash + 1]
    really = _equal_rows(numbers, earlier, later) & _equal_rows(codes, earlier, later)
    if really.any():
        example = int(np.argmin(np.where(really, later, len(hashes))))
        findings.warning(
            "repeated-features",
            f"{int(really.sum())} row(s) repeat the features of an earlier row, first"
            f" row {later[example] + first_row} those of row {earlier[example] + first_row}",
            row=int(later[example] + first_row),
        )


def _row_hashes(numbers: Floats, codes: Codes) -> npt.NDArray[np.uint64]:
    """One 64-bit hash per row: a random multiple of each cell's mixed bits, summed modulo 2^64."""
    weights = np.random.default_rng(0).integers(1 << 63, size=numbers.shape[1] + codes.shape[1], dtype=np.uint64)
    weights |= np.uint64(1)
    hashes = np.empty(len(numbers), dtype=np.uint64)
    for start in range(0, len(numbers), BLOCK):
        block = slice(start, start + BLOCK)
        bits = (numbers[block] + 0.0).view(np.uint64)  # + 0.0: −0.0 equals 0.0
        bits = np.hstack([bits, codes[block].astype(np.uint64)])
        bits ^= bits >> np.uint64(32)
        hashes[block] = (bits * weights).sum(axis=1, dtype=np.uint64)
    return hashes


def _equal_rows(
    values: Floats | Codes, left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Whether the rows are equal, pair by pair, a block at a time."""
    equal = np.empty(len(left), dtype=bool)
    for start in range(0, len(left), BLOCK):
        block = slice(start, start + BLOCK)
        equal[block] = (values[left[block]] == values[right[block]]).all(axis=1)
    return equal
