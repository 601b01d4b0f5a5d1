"""What the commands print: tables for people, JSON for scripts, a spinner while they wait."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .. import Batch, BatchDetails, Finding
from ..display import plural
from ..previews import Preview

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)


def print_json(answer: Any) -> None:
    """A dataclass, or a list of dataclasses, as JSON on standard output."""
    plain = [asdict(item) for item in answer] if isinstance(answer, list) else asdict(answer)
    console.file.write(json.dumps(plain, default=_text, ensure_ascii=False) + "\n")


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """A spinner on standard error, so that standard output stays clean."""
    with errors.status(text):
        yield


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    printed = Table(*header, box=None, header_style="bold", pad_edge=False)
    for row in rows:
        printed.add_row(*(_cell_text(cell) for cell in row))
    return printed


def batch_table(batch: Batch[Any]) -> Table:
    names = list(batch.suggestions[0].features) if batch.suggestions else []
    expenses = [name for name in ("cost", "duration") if getattr(batch.details, name) is not None]
    rows = (
        [
            *(suggestion.id, suggestion.key, suggestion.replicates, *map(suggestion.features.get, names)),
            *(getattr(suggestion, expense) for expense in expenses),
            suggestion.state,
        ]
        for suggestion in batch
    )
    return table(["suggestion", "candidate", "×", *names, *expenses, "state"], rows)


def expenses_in_words(batch: BatchDetails | Preview) -> str:
    """What the measurements of a batch take, as the end of a sentence."""
    cost = "" if batch.cost is None else f", cost {batch.cost:.6g}"
    return cost + ("" if batch.duration is None else f", duration {batch.duration:.6g}")


def print_warnings(warnings: Sequence[Finding]) -> None:
    if warnings:
        errors.print(f"{plural(len(warnings), 'warning')}:")
    for warning in warnings:
        errors.print(f"  {warning}", style="yellow", markup=False)


def file_size(file: Path) -> str:
    return f"{file.stat().st_size / 1e6:.1f} MB"


def _cell_text(cell: object) -> str:
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
