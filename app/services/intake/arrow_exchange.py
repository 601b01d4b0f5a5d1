"""What passes between the server and the child process that reads Parquet and Arrow: JSON and plain .npy files."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.domain.errors import InvalidCandidates
from app.domain.findings import Finding
from app.services.intake.cells import Cells, Codes, Floats, Numbers, RawColumn, Texts
from app.services.intake.declared import Declared
from app.services.intake.findings import refuse
from app.services.intake.limits import Limits

_ANSWER = "answer.json"


@dataclass(frozen=True)
class Request:
    """Which file to read, what is said about it, and the folder for the answer."""

    path: str
    form: str
    folder: str
    first_row: int
    declared: Declared
    limits: Limits


def parse_request(text: str) -> Request:
    """The request as the server wrote it."""
    members = json.loads(text)
    members["declared"] = Declared(**members["declared"])
    members["limits"] = Limits(**members["limits"])
    return Request(**members)


def save_columns(columns: Sequence[RawColumn], folder: Path) -> None:
    """Write each column's array, then the answer that names them."""
    described = []
    for position, column in enumerate(columns):
        array, levels = _parts(column.cells)
        np.save(_array(folder, position), array, allow_pickle=False)
        described.append({"name": column.name, "kind": column.kind, "levels": levels})
    (folder / _ANSWER).write_text(json.dumps({"columns": described}))


def save_refusal(refused: InvalidCandidates, folder: Path) -> None:
    """Write why the file is refused."""
    findings = [asdict(finding) for finding in refused.findings]
    (folder / _ANSWER).write_text(json.dumps({"findings": findings, "total": refused.total}))


def load_columns(folder: Path, form: str) -> list[RawColumn]:
    """The columns that the child wrote; raises InvalidCandidates if it refused the file or died over it."""
    answer = folder / _ANSWER
    if not answer.exists():
        raise refuse(
            f"broken-{form}", f"not a {form} file that can be read here; write it again, or upload CSV or .npy"
        )
    members = json.loads(answer.read_text())
    if "findings" in members:
        raise InvalidCandidates([Finding(**finding) for finding in members["findings"]], members["total"])
    return [_column(each, _array(folder, position)) for position, each in enumerate(members["columns"])]


def _parts(cells: Cells) -> tuple[Floats | Codes, tuple[str, ...] | None]:
    return (cells.values, None) if isinstance(cells, Numbers) else (cells.codes, cells.levels)


def _column(described: dict[str, Any], path: Path) -> RawColumn:
    array = np.load(path, allow_pickle=False)
    levels = described["levels"]
    cells = Numbers(array) if levels is None else Texts(tuple(levels), array)
    return RawColumn(described["name"], cells, described["kind"])


def _array(folder: Path, position: int) -> Path:
    return folder / f"{position}.npy"
