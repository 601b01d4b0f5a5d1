"""Fits a later upload to the columns a study already has."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.domain.candidates import Column
from app.services.intake.cells import Codes, Floats
from app.services.intake.findings import Findings
from app.services.intake.table import CandidateTable


def extend(columns: Sequence[Column], table: CandidateTable) -> CandidateTable:
    """The table in the study's own column order and codes; its `columns` are the study's new ones.

    New texts of a text feature are appended to its levels, so every code already stored keeps its meaning. Raises
    InvalidCandidates unless names, kinds and roles agree; `declared_by(columns)` reads an upload in the study's terms.
    """
    findings = Findings()
    _check_same(columns, table, findings)
    findings.stop_if_any()
    incoming = {column.name: column for column in table.columns}
    extended = tuple(_with_new_levels(column, incoming[column.name], findings) for column in columns)
    return replace(
        table,
        columns=extended,
        numbers=_reordered(columns, table),
        codes=_recoded(extended, table),
        attributes={column.name: table.attributes[column.name] for column in columns if column.role == "attribute"},
        warnings=(*table.warnings, *findings.warnings),
    )


def _check_same(columns: Sequence[Column], table: CandidateTable, findings: Findings) -> None:
    known, incoming = {column.name: column for column in columns}, {column.name: column for column in table.columns}
    for name in known.keys() - incoming.keys():
        findings.error("missing-column", "the study has this column, the upload has not; add it", column=name)
    for name in incoming.keys() - known.keys():
        findings.error("unknown-column", "the study has no such column; remove it", column=name)
    for name in known.keys() & incoming.keys():
        for trait in ("kind", "role"):
            if getattr(known[name], trait) != getattr(incoming[name], trait):
                findings.error(
                    f"other-{trait}",
                    f"the column is a {getattr(incoming[name], trait)} here,"
                    f" in the study it is a {getattr(known[name], trait)}; make them agree",
                    column=name,
                )


def _with_new_levels(known: Column, incoming: Column, findings: Findings) -> Column:
    seen = set(known.levels)
    new = [level for level in incoming.levels if level not in seen]
    if not new:
        return known
    findings.warning(
        "new-levels", f"{len(new)} text(s) the study had not seen; is each spelt right?", column=known.name
    )
    return replace(known, levels=(*known.levels, *new))


def _reordered(columns: Sequence[Column], table: CandidateTable) -> Floats:
    order = _order(columns, table, text=False)
    return table.numbers if order == sorted(order) else np.ascontiguousarray(table.numbers[:, order])


def _order(columns: Sequence[Column], table: CandidateTable, *, text: bool) -> list[int]:
    """Where each feature of the study stands among the table's features of the same sort."""
    stands = [column.name for column in _features(table.columns, text=text)]
    return [stands.index(column.name) for column in _features(columns, text=text)]


def _features(columns: Sequence[Column], *, text: bool) -> list[Column]:
    return [column for column in columns if column.role == "feature" and (column.kind == "text") == text]


def _recoded(columns: Sequence[Column], table: CandidateTable) -> Codes:
    incoming = {column.name: column for column in table.columns}
    recoded = np.empty_like(table.codes)
    features = _features(columns, text=True)
    for position, (column, source) in enumerate(zip(features, _order(columns, table, text=True), strict=True)):
        code = {level: number for number, level in enumerate(column.levels)}
        translation = np.array([code[level] for level in incoming[column.name].levels], dtype="<i4")
        recoded[:, position] = translation[table.codes[:, source]]
    return recoded
