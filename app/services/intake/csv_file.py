"""Candidates from a CSV file: comma, semicolon or tab; UTF-8; the header is row 1."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.services.intake.build import build_table
from app.services.intake.cells import Cells, Floats, Numbers, RawColumn, TextEncoder, exact_numbers
from app.services.intake.csv_lines import Records
from app.services.intake.csv_rows import armed
from app.services.intake.csv_shape import rectangular_blocks
from app.services.intake.declared import Declared
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import Limits
from app.services.intake.names import check_names
from app.services.intake.table import CandidateTable

_HEADER_ROW = 1


def read_csv(path: Path, declared: Declared | None = None, limits: Limits | None = None) -> CandidateTable:
    """The candidates of a CSV file; raises InvalidCandidates with the row and column of every mistake.

    A column is read as numbers until a cell says otherwise. When that happens late, the texts read before are gone,
    so the file is read once more with those columns as text: rare, and memory stays that of the numbers.
    """
    declared, limits = declared or Declared(), limits or Limits()
    reading = _read(path, declared, limits, as_text=frozenset())
    if late := reading.turned_late():
        reading = _read(path, declared, limits, as_text=late)
    return build_table(reading.columns(), _HEADER_ROW + 1, declared, limits, reading.findings)


class _ColumnReader:
    """Gathers one column block by block: numbers as long as every cell is one, then texts."""

    def __init__(self, *, as_text: bool) -> None:
        self._numbers: list[Floats] = []
        self._texts = TextEncoder() if as_text else None

    def add(self, cells: Sequence[str]) -> None:
        if self._texts is None:
            numbers = exact_numbers(cells)
            if numbers is not None:
                self._numbers.append(numbers)
                return
            self._texts = TextEncoder()
        self._texts.add([armed(cell) for cell in cells] if "'" in "".join(cells) else cells)

    def turned_late(self) -> bool:
        return bool(self._numbers) and self._texts is not None

    def cells(self) -> Cells:
        return Numbers(np.concatenate([np.empty(0), *self._numbers])) if self._texts is None else self._texts.texts()


@dataclass(frozen=True)
class _Reading:
    names: Sequence[str]
    readers: Sequence[_ColumnReader]
    findings: Findings

    def turned_late(self) -> frozenset[str]:
        pairs = zip(self.names, self.readers, strict=True)
        return frozenset(name for name, reader in pairs if reader.turned_late())

    def columns(self) -> list[RawColumn]:
        return [RawColumn(name, reader.cells()) for name, reader in zip(self.names, self.readers, strict=True)]


def _read(path: Path, declared: Declared, limits: Limits, as_text: Set[str]) -> _Reading:
    records, findings = Records(path), Findings()
    names = _header(records, limits, findings)
    texts = as_text | {name for name in names if declared.role(name) == "key" or declared.kinds.get(name) == "text"}
    readers = [_ColumnReader(as_text=name in texts) for name in names]
    for block in rectangular_blocks(records, names, limits, findings):
        for reader, cells in zip(readers, zip(*block, strict=True), strict=True):
            reader.add(cells)
    findings.stop_if_any()
    return _Reading(names, readers, findings)


def _header(records: Records, limits: Limits, findings: Findings) -> list[str]:
    header = records.block(1)
    if not header or not any(header[0]):
        raise refuse("no-header", "the first row is empty; it must name the columns", row=_HEADER_ROW)
    names = [armed(name) for name in header[0]]
    check_names(names, limits, findings, row=_HEADER_ROW)
    findings.stop_if_any()
    return names
