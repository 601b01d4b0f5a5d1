"""Joins tables of descriptors to a list of candidates: what is known of each ligand, solvent or other level.

    {"candidates": [{"key": "A1", "ligand": "XPhos"}, …],
     "descriptors": {"ligand": [{"ligand": "XPhos", "cone angle": 256, "electronic": 0.3}, …]}}

Every candidate gets the descriptors of its ligand as columns of its own. They are stored like any others.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from app.services.intake.columns import shown_name
from app.services.intake.findings import Findings, refuse

_Row: TypeAlias = Mapping[str, object]
_Table: TypeAlias = Mapping[object, _Row]

_FIRST_ROW = 1


def join_descriptors(candidates: object, descriptors: object) -> object:
    """The rows of candidates with the descriptors of their levels; raises InvalidCandidates with every mistake.

    What is no list of objects is left to the reader of candidates, which says so.
    """
    if not isinstance(descriptors, dict):
        raise refuse("descriptors", "Write `descriptors` as an object: the name of a column, then a list of objects.")
    if not isinstance(candidates, list) or not all(isinstance(row, dict) for row in candidates) or not candidates:
        return candidates
    findings = Findings()
    rows: list[_Row] = candidates
    for column, listed in descriptors.items():
        table = _table_of(column, listed, findings)
        findings.stop_if_any()
        rows = _joined(rows, column, table, findings)
        findings.stop_if_any()
    return rows


def _table_of(column: str, listed: object, findings: Findings) -> _Table:
    """The descriptors by level."""
    if not isinstance(listed, list) or not listed or not all(isinstance(row, dict) for row in listed):
        raise refuse(
            "descriptors", f"Write the descriptors of {shown_name(column)} as a list of objects, one per level."
        )
    names, place = set(listed[0]), f"descriptors of {shown_name(column)}"
    table: dict[object, _Row] = {}
    for number, row in enumerate(listed, start=_FIRST_ROW):
        level = row.get(column)
        if not _is_level(level):
            findings.error(
                "descriptors",
                f"Name the level in {shown_name(column)!r}, as the candidates do.",
                row=number,
                column=place,
            )
        elif level in table:
            findings.error("descriptors", f"{level!r} is there twice. Keep one of the rows.", row=number, column=place)
        elif set(row) != names:
            findings.error(
                "descriptors",
                "Give every level the same descriptors; null where one is unknown.",
                row=number,
                column=place,
            )
        else:
            table[level] = {name: value for name, value in row.items() if name != column}
    if names == {column}:
        findings.error("descriptors", f"There are no descriptors of {shown_name(column)} beside its levels.")
    return table


def _is_level(cell: object) -> bool:
    """Texts and numbers; `true` is no level, although Python takes it for 1."""
    return isinstance(cell, str | int | float) and not isinstance(cell, bool)


def _joined(rows: Sequence[_Row], column: str, table: _Table, findings: Findings) -> list[_Row]:
    added = set(next(iter(table.values())))
    for name in sorted(added & set(rows[0])):
        message = "The candidates have a column of this name, too. Rename one of them."
        findings.error("descriptors", message, column=shown_name(name))
    joined: list[_Row] = []
    for number, row in enumerate(rows, start=_FIRST_ROW):
        level = row.get(column)
        found = table.get(level) if _is_level(level) else None
        if found is None:
            message = f"There are no descriptors of {level!r}. Add a row for it, or correct its spelling."
            findings.error("descriptors", message, row=number, column=shown_name(column))
            continue
        joined.append({**row, **found})
    return joined
