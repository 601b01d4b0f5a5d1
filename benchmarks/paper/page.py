"""The page and all it shows, from the records: tables in their places, pictures and raw results beside it."""

import json
from pathlib import Path
from typing import Any

from benchmarks.pages import DOCS, fill
from benchmarks.paper.pictures import draw_all
from benchmarks.paper.records import read_all
from benchmarks.paper.summary import grouped, published
from benchmarks.paper.tables import all_tables
from benchmarks.paper.theory_picture import draw_theory

THEORY = DOCS / "paper" / "theory.json"


def write(results: Path, docs: Path = DOCS) -> None:
    """Everything under docs/benchmarks that the records can tell."""
    groups, folder = grouped(read_all(results)), docs / "paper"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(published(groups)) + "\n")
    draw_all(groups, folder)
    theory = _read(THEORY)
    if theory:
        draw_theory(theory, folder / "theory")
    fill(docs / "paper.md", all_tables(groups, theory))


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found
