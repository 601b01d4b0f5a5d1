"""Import a study from its archive: the same events, the same rows, the same next batch.

The file may have been made by anyone, so it is checked as a whole before any of it is stored.
"""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import Connection
from sqlalchemy.exc import DataError, IntegrityError

from app.arrays import Array
from app.domain.access import Actor, Role
from app.domain.candidates import CandidateBlock
from app.domain.codec import from_plain, read_json
from app.domain.errors import Finding, Invalid, Overloaded, StudyExists, UnreadableEvent
from app.domain.events import StudyCreated, digests_of
from app.domain.ledger import LedgerEntry, first_break
from app.domain.studies import Configuration, Study
from app.modelling.engine_settings import check_configuration
from app.modelling.ledger_state import LedgerState, fold
from app.services.resources import Resources
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases import studies
from app.services.use_cases.archive import ARCHIVE_FORMAT
from app.storage import blobs, ledger
from app.storage import studies as study_rows

MOST_EXPANSION = 20  # an archive may unpack to this many times the largest body
ATTEMPTS = 5
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LONGEST = {"type": 50, "actor": 50, "recorded_at": 32, "request_id": 100, "payload": 2**30}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

# The errors that reading a file of any other kind may raise.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError),
    *(KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError),
    *(DataError, IntegrityError, UnreadableEvent),
)

RenderStudy = Callable[[tuple[Study, bool]], Answer]


@dataclass(frozen=True)
class _Archive:
    """The checked contents of an archive."""

    name: str
    entries: tuple[LedgerEntry, ...]
    arrays: Mapping[str, Array]  # by digest


def import_archive(resources: Resources, tx: WriteTransactions, path: Path, answer: RenderStudy) -> Answer:
    """Import the study; the same archive again finds it."""
    stored_answer = tx.stored_answer()
    if stored_answer is not None:
        return stored_answer
    try:
        archive = _read(path, resources.settings.max_body_bytes * MOST_EXPANSION)
        _check_story(archive)
        return _store(resources, tx, archive, answer)
    except _BROKEN as error:
        raise _not_an_archive("The file is not an archive of a study.") from error


def _store(resources: Resources, tx: WriteTransactions, archive: _Archive, answer: RenderStudy) -> Answer:
    for _ in range(ATTEMPTS):
        for array in archive.arrays.values():
            blobs.store(resources.database, array)
        try:
            return tx.write_once(_import, archive, answer=answer)
        except blobs.DamagedBlob:  # the arrays were swept before the events named them
            continue
    raise Overloaded


def _import(connection: Connection, actor: Actor, archive: _Archive) -> tuple[Study, bool]:
    """The study, and whether it is new."""
    blobs.must_be_listed(connection, archive.arrays.keys())
    first = archive.entries[0]
    study = study_rows.create(connection, archive.name, _first_configuration(archive), first.recorded_at)
    if study is None:
        existing = studies.find(connection, actor, archive.name)
        if existing.head != archive.entries[-1].hash:
            raise StudyExists("A study with this name exists and has another history.")
        return existing, False
    for entry in archive.entries:
        study = ledger.add(connection, study, entry, entry.event())
    if actor.key.role is not Role.ADMIN:
        study_rows.grant(connection, actor.key.id, study)
    return study, True


def _first_configuration(archive: _Archive) -> Configuration:
    created = archive.entries[0].event()
    if not isinstance(created, StudyCreated):
        raise _not_an_archive("Its ledger does not begin with the creation of a study.")
    return created.configuration


def _read(path: Path, most_bytes: int) -> _Archive:
    with zipfile.ZipFile(path) as file:
        _refuse_bombs(file, most_bytes)
        name, entries = _read_ledger(file)
        return _Archive(name, entries, _read_arrays(file, entries))


def _refuse_bombs(file: zipfile.ZipFile, most_bytes: int) -> None:
    members = file.infolist()
    if sum(member.file_size for member in members) > most_bytes:
        raise _not_an_archive("It unpacks to more than this server accepts.")
    if any(member.compress_type not in COMPRESSIONS for member in members):
        raise _not_an_archive("Its files must be stored or deflated.")


def _read_ledger(file: zipfile.ZipFile) -> tuple[str, tuple[LedgerEntry, ...]]:
    manifest = json.loads(file.read("manifest.json"))
    if manifest["format"] != ARCHIVE_FORMAT:
        raise _not_an_archive(f"Its format is not {ARCHIVE_FORMAT}.")
    with file.open("ledger.jsonl") as lines:
        entries = tuple(from_plain(LedgerEntry, read_json(line.decode())) for line in lines)
    name = manifest["study"]
    if not _NAME.fullmatch(name) or not all(_is_storable(entry) for entry in entries):
        raise _not_an_archive("It has names or texts that no study can have.")
    if not entries or entries[0].type != StudyCreated.type or first_break(name, entries) is not None:
        raise _not_an_archive("Its chain of events is broken.")
    return name, entries


def _is_storable(entry: LedgerEntry) -> bool:
    """Whether the tables can hold its texts."""
    texts = {
        "type": entry.type,
        "actor": entry.actor,
        "recorded_at": entry.recorded_at,
        "request_id": entry.request_id,
        "payload": entry.payload,
        "reason": entry.reason or "",
    }
    return all(len(text) <= LONGEST.get(field, 10_000) and "\0" not in text for field, text in texts.items())


def _read_arrays(file: zipfile.ZipFile, entries: tuple[LedgerEntry, ...]) -> dict[str, Array]:
    """Every array that the events name, checked against its digest."""
    digests: set[str] = set().union(*(digests_of(entry.event()) for entry in entries))
    arrays = {digest: _array(file.read(f"arrays/{digest}.npy")) for digest in sorted(digests)}
    if any(blobs.name(array) != digest for digest, array in arrays.items()):
        raise _not_an_archive("The bytes of an array do not match its name.")
    return arrays


def _array(content: bytes) -> Array:
    """An array from `.npy` bytes. Its size is that of the bytes, whatever the header says."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("another version of the format")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    if fortran_order or dtype.hasobject:
        raise ValueError("not a plain array")
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)


def _check_story(archive: _Archive) -> None:
    """Check that what the events tell can have happened: the candidates exist, the values are finite."""
    check_configuration(_first_configuration(archive))
    state = fold(LedgerState(), archive.entries)
    first = 0
    for block in state.blocks:
        _check_block(state, block, archive.arrays, first)
        first += block.rows
    pending = np.array([suggestion.candidate for suggestion in state.pending.values()], dtype=np.int64)
    named = np.concatenate([state.candidates, pending, list(state.unavailable)])
    if not (np.isfinite(state.values).all() and (named >= 0).all() and (named < first).all()):
        raise _not_an_archive("It names candidates or values that cannot exist.")


def _check_block(state: LedgerState, block: CandidateBlock, arrays: Mapping[str, Array], first: int) -> None:
    features = [column for column in state.columns if column.role == "feature"]
    texts = sum(column.kind == "text" for column in features)
    numbers, codes = arrays[block.arrays.numbers], arrays[block.arrays.codes]
    expected = ((block.rows, len(features) - texts), (block.rows, texts))
    keys = block.arrays.keys
    lengths = {len(arrays[digest]) for digest in (keys.ends, keys.hashes, keys.rows)} if keys else {block.rows}
    right = (numbers.shape, codes.shape) == expected and (numbers.dtype.str, codes.dtype.str) == ("<f8", "<i4")
    if not right or lengths != {block.rows} or block.first != first or block.stored_in != "database":
        raise _not_an_archive("The number of its candidates is not what it says.")


def _not_an_archive(message: str) -> Invalid:
    return Invalid([Finding("archive", message)])
