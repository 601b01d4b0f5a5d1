"""How the commands print: tables for people, JSON for scripts, a bar or a spinner while they wait."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from nextbatch import Batch, Finding

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def print_json(answer: Any) -> None:
    """A dataclass, or a list of them, as JSON on standard output."""
    plain = [asdict(one) for one in answer] if isinstance(answer, list) else asdict(answer)
    console.file.write(json.dumps(plain, default=_text, ensure_ascii=False) + "\n")


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A spinner on standard error, so that standard output stays clean."""
    with errors.status(words):
        yield


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    made = Table(*header, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        made.add_row(*(cell_text(cell) for cell in row))
    return made


def batch_table(batch: Batch[Any]) -> Table:
    names = list(batch.suggestions[0].features) if batch.suggestions else []
    rows = ([one.id, one.key, one.replicates, *(one.features[name] for name in names), one.state] for one in batch)
    return table(["suggestion", "candidate", "×", *names, "state"], rows)


def print_findings(findings: Iterable[Finding], style: str) -> None:
    for finding in findings:
        errors.print(f"  {finding}", style=style, markup=False)


def cell_text(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
