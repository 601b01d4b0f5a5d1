"""Candidates from a .npy array, with keys and column names apart: the way for a million rows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.domain.candidates import Column, Kind
from app.services.intake.build import check_size
from app.services.intake.cells import encode
from app.services.intake.declared import Declared, check_declared
from app.services.intake.findings import Findings
from app.services.intake.keys import check_count, check_keys
from app.services.intake.limits import Limits
from app.services.intake.names import check_names
from app.services.intake.npy_cells import attribute_values, check_cells, feature_numbers, map_cells
from app.services.intake.npy_header import NpyHeader, read_header
from app.services.intake.oddities import note_oddities
from app.services.intake.table import CandidateTable

_FIRST_ROW = 1


def read_npy(
    path: Path,
    keys: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    declared: Declared | None = None,
    limits: Limits | None = None,
) -> CandidateTable:
    """The candidates of a .npy file, one per row; columns are called x1, x2, … unless named.

    Where the file already holds little-endian doubles in C order, `numbers` is a read-only memory map of it: the file
    must then outlive the table (on POSIX it may be unlinked).
    """
    declared, limits, findings = declared or Declared(), limits or Limits(), Findings()
    header = read_header(path)
    check_size(header.rows, max(1, header.columns), limits)
    columns = _columns(header, names, declared, limits, findings)
    checked_keys = _keys(keys, header.rows, limits, findings)
    findings.stop_if_any()
    cells = map_cells(path, header)
    check_cells(cells, columns, _FIRST_ROW, findings)
    findings.stop_if_any()
    numbers, codes = feature_numbers(cells, columns), np.empty((header.rows, 0), dtype="<i4")
    note_oddities(columns, numbers, codes, _FIRST_ROW, findings)
    attributes = attribute_values(cells, columns)
    return CandidateTable(columns, numbers, codes, checked_keys, attributes, findings.warnings, _FIRST_ROW)


def _columns(
    header: NpyHeader, names: Sequence[str] | None, declared: Declared, limits: Limits, findings: Findings
) -> tuple[Column, ...]:
    names = names if names is not None else [f"x{number}" for number in range(1, header.columns + 1)]
    check_names(names, limits, findings)
    if len(names) != header.columns:
        findings.error("name-count", f"{len(names)} names for {header.columns} columns; give one per column")
    check_declared(declared, names, findings)
    stated: Kind = "boolean" if header.dtype.kind == "b" else "number"
    columns = tuple(Column(name, declared.kinds.get(name, stated), declared.role(name)) for name in names)
    for column in columns:
        if column.role == "key" or column.kind == "text":
            findings.error(
                "npy-numbers-only", "an array holds numbers: give keys apart, texts as CSV", column=column.name
            )
    return columns


def _keys(keys: Sequence[str] | None, rows: int, limits: Limits, findings: Findings) -> list[str] | None:
    if keys is None:
        return None
    check_count(keys, rows, findings)
    return check_keys(encode(keys), None, _FIRST_ROW, limits, findings)
