"""Candidates: upload the list, add to it, switch one off, read a page of it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.answers import Answer
from app.domain.errors import CandidateNotFound, CandidatesInUse, Conflict, Invalid, InvalidCandidates, Overloaded
from app.domain.findings import Finding
from app.domain.studies import Study
from app.services import studies
from app.services.candidate_set import Candidate, CandidateSet
from app.services.intake.limits import Limits
from app.services.intake.table import CandidateTable
from app.services.resources import Resources
from app.services.transactions import Writing
from app.services.uploads import Upload, read_table
from app.storage import blobs, candidate_arrays, ledger
from app.storage import candidates as rows
from app.storage.blobs import DamagedBlob
from app.storage.candidates import Block

ATTEMPTS = 5


@dataclass(frozen=True)
class Receipt:
    """What an upload did, or (dry run) would do."""

    study: Study
    added: int
    warnings: tuple[Finding, ...]
    stored: bool


Render = Callable[[Receipt], Answer]


def upload(resources: Resources, write: Writing, name: str, body: Upload, *, dry_run: bool, render: Render) -> Answer:
    """Make `body` the study's candidate list; the same list again changes nothing."""
    if kept := write.kept():
        return kept
    study = write(studies.find, name)
    table = read_table(body, _limits(resources))
    if dry_run:
        return render(Receipt(_with(study, table, first=0), len(table), table.warnings, stored=False))
    for _ in range(ATTEMPTS):
        try:
            return write.once(render, _replace, name, table, _store(resources, table))
        except DamagedBlob:  # they were swept before they were named
            continue
    raise Overloaded


def check(resources: Resources, body: Upload) -> CandidateTable:
    """What the list would be, before there is a study."""
    return read_table(body, _limits(resources))


def append(resources: Resources, write: Writing, name: str, body: Upload, *, dry_run: bool, render: Render) -> Answer:
    """Add `body` to the study's candidates, in the study's own columns."""
    for _ in range(ATTEMPTS):
        study = write.kept_or(studies.find, name)
        if isinstance(study, Answer):
            return study
        table = read_table(body, _limits(resources), known=study.columns)
        kept = write.kept_or(_refuse_clashes, resources, study, table)  # a repeat clashes with its first time alone
        if kept is not None:
            return kept
        if dry_run:
            return render(
                Receipt(_with(study, table, first=study.candidates), len(table), table.warnings, stored=False)
            )
        arrays = _store(resources, table)
        try:
            return write.once(render, _append, name, study.version, table, arrays)
        except (_Outdated, DamagedBlob):
            continue
    raise Conflict("Others change the candidates all the time; try again.")


def switch(
    connection: Connection, actor: Actor, resources: Resources, name: str, key: str, available: bool, reason: str | None
) -> Candidate:
    """Say whether a candidate can be measured at all (out of stock, broken, back again)."""
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    number, candidate = _candidate(connection, resources, study, key)
    if (candidate.available, candidate.reason) == (available, None if available else reason):
        return candidate
    if not available and reason is None:
        raise Invalid([Finding("missing", "Say why it cannot be measured.", pointer="/reason")])
    payload = {"candidate": number, "key": key, "available": available}
    ledger.append(connection, study, actor, "candidate-switched", payload, reason)
    return replace(candidate, available=available, reason=None if available else reason)


def read_one(connection: Connection, actor: Actor, resources: Resources, name: str, key: str) -> Candidate:
    return _candidate(connection, resources, studies.find(connection, actor, name), key)[1]


class _Outdated(Exception):
    """The study's candidates changed since they were read."""


def _replace(connection: Connection, actor: Actor, name: str, table: CandidateTable, arrays: dict[str, Any]) -> Receipt:
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    existing = rows.blocks(connection, study)
    changed = _with(study, table, first=0)
    if [block.arrays for block in existing] == [arrays] and study.columns == changed.columns:
        return Receipt(study, len(table), table.warnings, stored=False)
    if rows.are_in_use(connection, study):
        raise CandidatesInUse
    return _record(connection, actor, study, "candidates-uploaded", Block(0, len(table), arrays), table)


def _append(
    connection: Connection, actor: Actor, name: str, version: int, table: CandidateTable, arrays: dict[str, Any]
) -> Receipt:
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    if study.version != version:
        raise _Outdated
    block = Block(study.candidates, len(table), arrays)
    return _record(connection, actor, study, "candidates-added", block, table)


def _record(
    connection: Connection, actor: Actor, study: Study, event: str, block: Block, table: CandidateTable
) -> Receipt:
    columns = [asdict(column) for column in table.columns]
    blobs.must_be_listed(connection, rows.digests(block.arrays))
    study = ledger.append(connection, study, actor, event, {**asdict(block), "columns": columns})
    return Receipt(study, block.rows, table.warnings, stored=True)


def _refuse_clashes(
    connection: Connection, _actor: Actor, resources: Resources, study: Study, table: CandidateTable
) -> None:
    """A key names one candidate; and either all candidates have keys of their own or none has."""
    if study.candidates + len(table) > resources.settings.max_candidates:
        most = resources.settings.max_candidates
        raise InvalidCandidates([Finding("too-many-rows", f"The study would have more than {most} candidates.")])
    existing = CandidateSet(connection, resources.arrays, study)
    if not len(existing):
        return
    if existing.has_keys != (table.keys is not None):
        missing = "The study's candidates have keys; give these keys too."
        surplus = "The study's candidates are numbered; leave the keys out."
        raise InvalidCandidates([Finding("keys", missing if existing.has_keys else surplus)])
    clashes = existing.those_known(table.keys or ())
    if clashes:
        message = "The study has a candidate with this key."
        raise InvalidCandidates([Finding("key-twice", message, row=place + table.first_row) for place in clashes])


def _candidate(connection: Connection, resources: Resources, study: Study, key: str) -> tuple[int, Candidate]:
    candidates = CandidateSet(connection, resources.arrays, study)
    number = candidates.find(key)
    if number is None:
        raise CandidateNotFound
    return number, candidates.read([number])[0]


def _with(study: Study, table: CandidateTable, first: int) -> Study:
    return replace(study, columns=table.columns, candidates=first + len(table))


def _store(resources: Resources, table: CandidateTable) -> dict[str, Any]:
    return candidate_arrays.store(resources.database, table.numbers, table.codes, table.keys, table.attributes)


def _limits(resources: Resources) -> Limits:
    return Limits(rows=resources.settings.max_candidates, columns=resources.settings.max_columns)
