"""Upload the candidate list, or add to it: parse with no transaction open, store the arrays, then name them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from app.arrays import Array
from app.domain.access import Actor
from app.domain.candidates import BlockArrays, CandidateBlock
from app.domain.errors import CandidatesExist, CandidatesInUse, Conflict, Finding, InvalidCandidates, Overloaded
from app.domain.events import CandidatesAdded, CandidatesUploaded
from app.domain.studies import Study
from app.modelling.engine_settings import check_features, model_warnings
from app.services.intake.limits import IntakeLimits, check_size
from app.services.intake.molecules import with_molecules
from app.services.intake.table import CandidateTable
from app.services.intake.uploads import Upload, read_table
from app.services.resources import Resources
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases import studies
from app.storage import blobs, candidates, ledger
from app.storage.blobs import DamagedBlob
from app.storage.candidate_set import CandidateSet, blocks, read_fingerprints
from app.storage.candidates import BlockContents

ATTEMPTS = 5


@dataclass(frozen=True)
class UploadReceipt:
    """What an upload did, or in a dry run would do."""

    study: Study
    added: int
    warnings: tuple[Finding, ...]
    stored: bool


RenderReceipt = Callable[[UploadReceipt], Answer]


def upload(
    resources: Resources,
    tx: WriteTransactions,
    name: str,
    body: Upload,
    *,
    replacing: bool,
    dry_run: bool,
    answer: RenderReceipt,
) -> Answer:
    """Make `body` the study's candidate list; the same list again changes nothing. Only `replacing` drops another."""
    stored_answer = tx.stored_answer()
    if stored_answer is not None:
        return stored_answer
    tx.read(studies.find, name)  # a study that does not exist is refused before the parsing
    table = check(resources, body)
    if dry_run:
        return tx.dry_run(_replace, name, table, _name_arrays(table), replacing, answer=_as_dry_run(answer))
    for _ in range(ATTEMPTS):
        try:
            arrays = _store_arrays(resources, table)
            return tx.write_once(_replace_with_stored, name, table, arrays, replacing, answer=answer)
        except DamagedBlob:  # the arrays were swept before the event named them
            continue
    raise Overloaded


def append(
    resources: Resources, tx: WriteTransactions, name: str, body: Upload, *, dry_run: bool, answer: RenderReceipt
) -> Answer:
    """Add `body` to the study's candidates, in the study's own columns."""
    for _ in range(ATTEMPTS):
        study = tx.read_unless_answered(studies.find, name)
        if isinstance(study, Answer):
            return study
        table = read_table(body, _limits(resources), known=study.columns)
        molecules = [column.name for column in study.columns if column.fingerprint is not None]
        if molecules:
            table = with_molecules(table, molecules, tx.read(_fingerprints, resources, study))
        stored_answer = tx.read_unless_answered(_refuse_clashes, resources, study, table)
        if stored_answer is not None:  # a repeat clashes only with its own first time
            return stored_answer
        try:
            if dry_run:
                arrays = _name_arrays(table)
                return tx.dry_run(_append, name, study.version, table, arrays, answer=_as_dry_run(answer))
            arrays = _store_arrays(resources, table)
            return tx.write_once(_append_stored, name, study.version, table, arrays, answer=answer)
        except (_Outdated, DamagedBlob):
            continue
    raise Conflict("The candidate list keeps changing. Try again.")


def check(resources: Resources, body: Upload) -> CandidateTable:
    """Parse a list, with everything that is worth a warning; nothing is stored."""
    limits = _limits(resources)
    table = with_molecules(read_table(body, limits), body.smiles)
    check_features(table.columns, len(table), len(table), limits.cells)
    return replace(table, warnings=(*table.warnings, *model_warnings(table.columns, table.numbers, table.codes)))


def _fingerprints(connection: Connection, _actor: Actor, resources: Resources, study: Study) -> dict[str, Array]:
    return read_fingerprints(connection, resources.arrays, study)


class _Outdated(Exception):
    """The study's candidates changed since they were read."""


def _replace_with_stored(
    connection: Connection, actor: Actor, name: str, table: CandidateTable, arrays: BlockArrays, replacing: bool
) -> UploadReceipt:
    blobs.must_be_listed(connection, arrays.digests())
    return _replace(connection, actor, name, table, arrays, replacing)


def _replace(
    connection: Connection, actor: Actor, name: str, table: CandidateTable, arrays: BlockArrays, replacing: bool
) -> UploadReceipt:
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    existing = blocks(connection, study)
    if [block.arrays for block in existing] == [arrays] and study.columns == table.columns:
        return UploadReceipt(study, len(table), table.warnings, stored=False)
    if study.reservations or candidates.are_in_use(connection, study):
        raise CandidatesInUse
    if existing and not replacing:
        raise CandidatesExist
    event = CandidatesUploaded(CandidateBlock(0, len(table), arrays), table.columns)
    study = ledger.append(connection, study, actor, event)
    return UploadReceipt(study, len(table), table.warnings, stored=True)


def _append_stored(
    connection: Connection, actor: Actor, name: str, version: int, table: CandidateTable, arrays: BlockArrays
) -> UploadReceipt:
    blobs.must_be_listed(connection, arrays.digests())
    return _append(connection, actor, name, version, table, arrays)


def _append(
    connection: Connection, actor: Actor, name: str, version: int, table: CandidateTable, arrays: BlockArrays
) -> UploadReceipt:
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    if study.version != version:
        raise _Outdated
    event = CandidatesAdded(CandidateBlock(study.candidates, len(table), arrays), table.columns)
    study = ledger.append(connection, study, actor, event)
    return UploadReceipt(study, len(table), table.warnings, stored=True)


def _refuse_clashes(
    connection: Connection, _actor: Actor, resources: Resources, study: Study, table: CandidateTable
) -> None:
    """A key names one candidate; and either all candidates have keys of their own, or none has."""
    most, limits, rows = resources.settings.max_candidates, _limits(resources), study.candidates + len(table)
    if rows > most:
        raise InvalidCandidates([Finding("too-many-rows", f"The study would have more than {most} candidates.")])
    check_size(rows, len(table.columns), limits)
    first_rows = next((block.rows for block in blocks(connection, study)), len(table))
    check_features(table.columns, first_rows, rows, limits.cells)
    existing = CandidateSet(connection, resources.arrays, study)
    if not len(existing):
        return
    if existing.has_keys != (table.keys is not None):
        missing = "The study's candidates have keys. Give each new candidate a key, too."
        surplus = "The study's candidates are numbered. Leave the column of keys out."
        raise InvalidCandidates([Finding("keys", missing if existing.has_keys else surplus)])
    clashes = existing.positions_of_existing(table.keys or ())
    if clashes:
        message = "The study already has a candidate with this key. Give this one another key, or delete the row."
        raise InvalidCandidates([Finding("key-twice", message, row=row + table.first_row) for row in clashes])


def _as_dry_run(answer: RenderReceipt) -> RenderReceipt:
    return lambda receipt: answer(replace(receipt, stored=False))


def _contents(table: CandidateTable) -> BlockContents:
    return BlockContents(table.numbers, table.codes, table.keys, table.attributes, table.fingerprints)


def _name_arrays(table: CandidateTable) -> BlockArrays:
    return candidates.name_arrays(_contents(table))


def _store_arrays(resources: Resources, table: CandidateTable) -> BlockArrays:
    return candidates.store_arrays(resources.database, _contents(table))


def _limits(resources: Resources) -> IntakeLimits:
    settings = resources.settings
    return IntakeLimits(rows=settings.max_candidates, columns=settings.max_columns, cells=settings.max_cells)
