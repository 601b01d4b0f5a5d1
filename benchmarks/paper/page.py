"""The page and all it shows, from the records: tables in their places, pictures and raw results beside it."""

import json
from pathlib import Path
from typing import Any

from benchmarks.pages import DOCS, fill
from benchmarks.paper.pictures import draw_all
from benchmarks.paper.records import read_all
from benchmarks.paper.summary import NOTHING, grouped, published, with_published
from benchmarks.paper.tables import all_tables
from benchmarks.paper.theory_picture import draw_theory

THEORY = DOCS / "paper" / "theory.json"


def write(results: Path, docs: Path = DOCS, *, add: bool = False) -> None:
    """Everything under docs/benchmarks that the records can tell; `add` fills in what was not published."""
    folder = docs / "paper"
    folder.mkdir(parents=True, exist_ok=True)
    before = _read(folder / "results.json") if add else NOTHING
    groups = grouped(with_published(read_all(results), before))
    (folder / "results.json").write_text(json.dumps(published(groups, before)) + "\n")
    for left in draw_all(groups, folder):
        print(f"{left} is left as it was: not all of its runs are at hand")
    theory = _read(THEORY)
    if theory:
        draw_theory(theory, folder / "theory")
    fill(docs / "paper.md", all_tables(groups, theory))


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found
