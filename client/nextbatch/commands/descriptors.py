"""Joins files of descriptors to a list of candidates: what is known of each ligand, solvent or other level.

Both are CSV. The first column of a file of descriptors has the name of the column that it describes. The joined list
goes to the server as CSV, so that it alone decides what is a number.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import typer

DELIMITERS = ",;\t"


def joined(candidates: Path, tables: Sequence[Path], folder: Path) -> Path:
    """The list with the descriptors of every level as columns of its own, in a new file."""
    rows, delimiter = _read(candidates)
    for table in tables:
        rows = _join(rows, _read(table)[0], table.name)
    path = folder / f"{candidates.stem}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return path


def _read(path: Path) -> tuple[list[list[str]], str]:
    """The rows of a CSV file, and what separates its cells."""
    if path.suffix.lower() != ".csv":
        raise _refusal(f"{path.name} is not a CSV file: candidates and descriptors are joined as CSV.")
    text = path.read_text(encoding="utf-8-sig")
    header = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=header.count)
    rows = [row for row in csv.reader(text.splitlines(keepends=True), delimiter=delimiter) if row]
    if not rows:
        raise _refusal(f"{path.name} is empty.")
    return rows, delimiter


def _join(rows: list[list[str]], table: list[list[str]], name: str) -> list[list[str]]:
    header, (column, *added) = rows[0], table[0]
    if column not in header:
        raise _refusal(f"The first column of {name} is called {column}. Give it the name of the column it describes.")
    taken = [descriptor for descriptor in added if descriptor in header]
    if taken:
        raise _refusal(f"The candidates have {', '.join(taken)}, too. Rename it in {name}.")
    levels: dict[str, list[str]] = {}
    for level, *values in table[1:]:
        if level in levels:
            raise _refusal(f"{level} is there twice in {name}. Keep one row.")
        levels[level] = (values + [""] * len(added))[: len(added)]
    place = header.index(column)
    missing = sorted({row[place] for row in rows[1:]} - levels.keys())
    if missing:
        raise _refusal(f"{name} has no row for {', '.join(missing[:5])}. Add it, or correct the spelling.")
    return [[*header, *added], *([*row, *levels[row[place]]] for row in rows[1:])]


def _refusal(message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint="--descriptors")
