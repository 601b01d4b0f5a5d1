"""The child process that reads one Parquet or Arrow file for the server, and may die doing so.

It runs as `python -m app.services.intake.arrow_child` and needs polars; `arrow_reading` starts it.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl

from app.arrays import Array, FloatArray
from app.domain.errors import InvalidCandidates
from app.services.intake.arrow_reading import ANSWER, FIRST_ROW, ReadRequest, column_file
from app.services.intake.cell_types import (
    INEXACT_INTEGER,
    MISSING,
    NOT_EXACT,
    NOT_FINITE,
    Cells,
    NumberCells,
    RawColumn,
    encode_texts,
)
from app.services.intake.children import limit
from app.services.intake.columns import Declared, check_names
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import IntakeLimits, check_size


def main() -> None:
    """Read the request from the standard input and leave the answer in its folder."""
    request = _parse_request(sys.stdin.read())
    limit(request.limits.arrow_memory, 2 * request.limits.arrow_seconds)  # on two threads
    folder = Path(request.folder)
    try:
        _save_columns(_read_columns(request), folder)
    except InvalidCandidates as refused:
        _save_refusal(refused, folder)


def _parse_request(text: str) -> ReadRequest:
    members = json.loads(text)
    members["declared"] = Declared(**members["declared"])
    members["limits"] = IntakeLimits(**members["limits"])
    return ReadRequest(**members)


def _read_columns(request: ReadRequest) -> Iterator[RawColumn]:
    """Every column of the file, one at a time; raises InvalidCandidates if one cannot be a column of candidates."""
    findings = Findings()
    try:
        lazy, columns = _open(Path(request.path), request.form, request.limits, findings)
        for position in range(columns):
            yield _column(lazy.select(pl.nth(position)).collect().to_series(), request.declared, findings)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        message = f"The file cannot be read as {request.form.title()}. Write it again."
        raise refuse(f"broken-{request.form}", message) from None
    findings.stop_if_any()


def _open(path: Path, form: str, limits: IntakeLimits, findings: Findings) -> tuple[pl.LazyFrame, int]:
    """The file and the number of its columns, after a check of its size that reads no cells."""
    lazy = pl.scan_parquet(path, glob=False) if form == "parquet" else pl.scan_ipc(path, glob=False)
    names = lazy.collect_schema().names()
    check_names(names, limits, findings)
    findings.stop_if_any()
    check_size(int(lazy.select(pl.len()).collect().item()), len(names), limits)
    return lazy, len(names)


def _column(series: pl.Series, declared: Declared, findings: Findings) -> RawColumn:
    name, dtype = series.name, series.dtype
    if dtype.is_numeric() and not (dtype.is_integer() and declared.is_text(name)):
        return RawColumn(name, NumberCells(_floats(series, findings)))
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Unknown):
        message = "A column of this type cannot be read. Convert it to numbers, booleans, texts or times."
        findings.error("column-type", message, column=name)
        return RawColumn(name, encode_texts([]))
    texts = series.cast(pl.String).fill_null(MISSING).to_list()
    return RawColumn(name, encode_texts(texts), "boolean" if dtype == pl.Boolean else "text")


def _floats(series: pl.Series, findings: Findings) -> FloatArray:
    """The column as doubles, NaN where missing; a number that a double cannot hold is an error."""
    floats = series.cast(pl.Float64)
    if series.dtype.is_integer():
        flaw, wrong = NOT_EXACT, (floats.abs() >= INEXACT_INTEGER).fill_null(False)
    else:
        flaw, wrong = NOT_FINITE, ~floats.is_finite().fill_null(True)
    findings.errors_in_rows(flaw.code, flaw.message, np.flatnonzero(wrong.to_numpy()) + FIRST_ROW, series.name)
    return floats.fill_null(np.nan).to_numpy()


def _save_columns(columns: Iterable[RawColumn], folder: Path) -> None:
    """Write the cells of each column, then the answer that lists the columns."""
    described = []
    for position, column in enumerate(columns):
        array, levels = _array_and_levels(column.cells)
        np.save(column_file(folder, position), array, allow_pickle=False)
        described.append({"name": column.name, "kind": column.kind, "levels": levels})
    (folder / ANSWER).write_text(json.dumps({"columns": described}))


def _array_and_levels(cells: Cells) -> tuple[Array, tuple[str, ...] | None]:
    return (cells.values, None) if isinstance(cells, NumberCells) else (cells.codes, cells.levels)


def _save_refusal(refused: InvalidCandidates, folder: Path) -> None:
    """Write why the file is refused."""
    findings = [asdict(finding) for finding in refused.findings]
    (folder / ANSWER).write_text(json.dumps({"findings": findings, "total": refused.total}))


if __name__ == "__main__":
    main()
