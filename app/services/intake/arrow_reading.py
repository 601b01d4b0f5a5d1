"""Reads candidates from a Parquet or Arrow file, if the extra `arrow` is installed.

A damaged file can make polars abort the whole process: a length in the file becomes an allocation that fails, and no
`except` catches that. So a child process (`arrow_child`) reads the file, with limits on memory and time. If the child
dies, the file is refused.

The server sends a `ReadRequest` as JSON through the child's standard input. The child leaves its answer in a temporary
folder: `answer.json` with the columns or the findings, and one .npy file per column.
"""

import json
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from app.domain.errors import Finding, InvalidCandidates, UnsupportedMediaType
from app.services.intake.cell_types import NumberCells, RawColumn, TextCells
from app.services.intake.children import ChildTooSlow, run_child
from app.services.intake.columns import Declared
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import IntakeLimits
from app.services.intake.table import CandidateTable, build_table

FIRST_ROW = 1
ANSWER = "answer.json"


class ArrowNotInstalled(UnsupportedMediaType):
    """This server was set up without the extra `arrow`."""

    detail = (
        "This server cannot read Parquet or Arrow, because it was installed without the extra `arrow`."
        " Upload CSV or .npy instead."
    )


@dataclass(frozen=True)
class ReadRequest:
    """The file to read, what is declared about it, and the folder for the answer."""

    path: str
    form: str
    folder: str
    declared: Declared
    limits: IntakeLimits


def read_parquet(path: Path, declared: Declared | None = None, limits: IntakeLimits | None = None) -> CandidateTable:
    """The candidates in a Parquet file; raises InvalidCandidates or ArrowNotInstalled."""
    return _read(path, "parquet", declared or Declared(), limits or IntakeLimits())


def read_arrow(path: Path, declared: Declared | None = None, limits: IntakeLimits | None = None) -> CandidateTable:
    """The candidates in an Arrow IPC (Feather) file; raises InvalidCandidates or ArrowNotInstalled."""
    return _read(path, "arrow", declared or Declared(), limits or IntakeLimits())


def column_file(folder: Path, position: int) -> Path:
    """The file for the cells of one column."""
    return folder / f"{position}.npy"


def _read(path: Path, form: str, declared: Declared, limits: IntakeLimits) -> CandidateTable:
    if find_spec("polars") is None:
        raise ArrowNotInstalled
    with TemporaryDirectory(dir=path.parent) as folder:
        _run_child(ReadRequest(str(path.absolute()), form, folder, declared, limits))
        columns = _load_columns(Path(folder), form)
    return build_table(columns, FIRST_ROW, declared, limits, Findings())


def _run_child(request: ReadRequest) -> None:
    """Run the child without our environment; if it fails, no answer is in the folder."""
    seconds = request.limits.arrow_seconds
    try:
        run_child(
            "app.services.intake.arrow_child",
            json.dumps(asdict(request)).encode(),
            seconds,
            {"POLARS_MAX_THREADS": "2"},
            Path(request.folder),
        )
    except ChildTooSlow:
        message = f"Reading the file took more than {seconds:g} seconds. Upload CSV or .npy instead."
        raise refuse(f"slow-{request.form}", message) from None


def _load_columns(folder: Path, form: str) -> list[RawColumn]:
    """The columns that the child wrote; raises InvalidCandidates if it refused the file or died."""
    answer = folder / ANSWER
    if not answer.exists():
        message = f"The file cannot be read as {form.title()}. Write it again, or upload CSV or .npy instead."
        raise refuse(f"broken-{form}", message)
    members = json.loads(answer.read_text())
    if "findings" in members:
        raise InvalidCandidates([Finding(**finding) for finding in members["findings"]], members["total"])
    described = members["columns"]
    return [_column(column, column_file(folder, position)) for position, column in enumerate(described)]


def _column(described: dict[str, Any], path: Path) -> RawColumn:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    levels = described["levels"]
    cells = NumberCells(array) if levels is None else TextCells(tuple(levels), array)
    return RawColumn(described["name"], cells, described["kind"])
