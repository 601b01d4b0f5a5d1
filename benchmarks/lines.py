"""Records of a benchmark, a line of JSON each, so that an interrupted run goes on where it was."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Shape = TypeVar("Shape")


def read(path: Path, shape: type[Shape]) -> list[Shape]:
    """All records of a file; none if there is no file yet."""
    if not path.exists():
        return []
    return [shape(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def append(path: Path, record: "DataclassInstance") -> None:
    """One more line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(record)) + "\n")
