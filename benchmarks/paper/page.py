"""The page and all it shows, from the records: tables in their places, pictures and raw results beside it."""

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.paper.pictures import draw_all
from benchmarks.paper.records import read_all
from benchmarks.paper.summary import grouped, published
from benchmarks.paper.tables import all_tables
from benchmarks.paper.theory_picture import draw_theory

DOCS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
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
    page = docs / "paper.md"
    page.write_text(filled(page.read_text(), all_tables(groups, theory)))


def filled(text: str, tables: dict[str, str]) -> str:
    """The text with every table between `<!-- its name -->` and `<!-- end -->`."""
    for name, table in tables.items():
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end -->)", rf"\g<1>\n{table}\n\n\g<2>", text, flags=re.DOTALL)
    return text


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found
