"""Import a study from its archive: the same events, the same rows, the same next batch, and a mark that it came so.

The file may have been made by anyone, so it is checked as a whole before any of it is stored.
"""

import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, IntegrityError

from app.domain.access import Actor, Role
from app.domain.audit import AuditAction
from app.domain.errors import Finding, Invalid, Overloaded, StudyExists, UnreadableEvent, UnverifiedArchive
from app.domain.events import AccessGranted, StudyImported
from app.domain.studies import Study
from app.services.archives.reading import Archive, read_archive, read_manifest, read_signature
from app.services.archives.story import check_story
from app.services.archives.zip_reading import Impossible, memory_to_read, opened
from app.services.intake.limits import IntakeLimits
from app.services.resources import Resources
from app.services.transactions import Answer, WriteTransactions
from app.services.use_cases import studies
from app.settings import Settings
from app.storage import audit, blobs, ledger
from app.storage import studies as study_rows

MOST_EXPANSION = 20  # an archive may unpack to this many times the largest body
TEXT_SHARE = 4  # the texts of a block may take the largest body divided by this
ATTEMPTS = 5
VERIFIED = ("own", "trusted")

# The errors that reading a file of any other kind may raise.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError),
    *(KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError),
    *(DataError, IntegrityError, UnreadableEvent),
)

RenderStudy = Callable[[tuple[Study, bool]], Answer]


def import_archive(
    resources: Resources,
    tx: WriteTransactions,
    path: Path,
    answer: RenderStudy,
    *,
    accept_unverified: bool,
    name: str | None = None,
) -> Answer:
    """Import the study, under another name if one is given; the same archive again finds it."""
    stored_answer = tx.stored_answer()
    if stored_answer is not None:
        return stored_answer
    settings = resources.settings
    try:
        with opened(path, settings.max_body_bytes * MOST_EXPANSION) as file:
            manifest = read_manifest(file)
            signature = read_signature(file, manifest, resources.signer, frozenset(settings.trusted_servers))
            if signature not in VERIFIED and not accept_unverified:
                raise UnverifiedArchive
            with resources.memory.reserve(memory_to_read(file)):
                archive = read_archive(file, manifest, signature)
                check_story(archive.entries, archive.arrays, _limits(settings))
                return _store(resources, tx, archive, name or manifest.study, answer)
    except Impossible as error:
        raise _not_an_archive(str(error)) from error
    except _BROKEN as error:
        raise _not_an_archive("The file is not an archive of a study.") from error


def _limits(settings: Settings) -> IntakeLimits:
    return IntakeLimits(
        rows=settings.max_candidates,
        columns=settings.max_columns,
        cells=settings.max_cells,
        text_bytes=settings.max_body_bytes // TEXT_SHARE,
    )


def _store(resources: Resources, tx: WriteTransactions, archive: Archive, name: str, answer: RenderStudy) -> Answer:
    for _ in range(ATTEMPTS):
        for array in archive.arrays.values():
            blobs.store(resources.database, array)
        try:
            return tx.write_once(_import, archive, name, answer=answer)
        except blobs.DamagedBlob:  # the arrays were swept before the events named them
            continue
    raise Overloaded


def _import(connection: Connection, actor: Actor, archive: Archive, name: str) -> tuple[Study, bool]:
    """The study, and whether it is new."""
    blobs.must_be_listed(connection, archive.arrays.keys())
    manifest = archive.manifest
    first = archive.entries[0]
    study = study_rows.create(connection, name, archive.first_configuration, first.recorded_at)
    if study is None:
        return _existing(connection, actor, archive, name), False
    for entry in archive.entries:
        study = ledger.add(connection, study, entry, entry.event())
    brought = {"study": name, "server": manifest.server, "head": manifest.head}
    audit.append(connection, actor, AuditAction.STUDY_BROUGHT_IN, brought)
    renamed = manifest.study if name != manifest.study else None
    mark = StudyImported(manifest.head, archive.signature, manifest.server, manifest.exported_at, renamed)
    study = ledger.append(connection, study, actor, mark)
    if actor.key.role is not Role.ADMIN:
        study = ledger.append(connection, study, actor, AccessGranted(actor.key.id))
    return study, True


def _existing(connection: Connection, actor: Actor, archive: Archive, name: str) -> Study:
    """The study that has exactly this history, by an earlier import or because it is where the archive came from."""
    study = studies.find(connection, actor, name)
    own = 2 if actor.key.role is not Role.ADMIN else 1  # events that an import adds
    same = ledger.hash_of(connection, study.id, archive.manifest.events) == archive.manifest.head
    untouched = study.seq == archive.manifest.events or (
        study.seq <= archive.manifest.events + own and study.origin_of(archive.manifest.events) is not None
    )
    if not (same and untouched):
        raise StudyExists("A study with this name exists and has another history.")
    return study


def _not_an_archive(message: str) -> Invalid:
    return Invalid([Finding("archive", message)])
