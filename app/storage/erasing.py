"""Erasing: what a study was about is overwritten for good. Of its ledger the chain stays: types, keys, times, hashes.

The triggers of the ledger allow this one change, and only to a study whose last event says that it was erased.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, delete, select, update

from app.domain.codec import canonical, to_plain
from app.domain.event_arrays import ARRAY_EVENTS, digests_of
from app.domain.events import ResultsBorrowed, StudyErased, StudyForked
from app.domain.ledger import decode
from app.domain.studies import Configuration, Study
from app.storage import ledger
from app.storage.database import Database
from app.storage.tables import events, idempotency, metadata, snapshot_blobs, studies

NOTHING = canonical(to_plain(Configuration()))
ERASED = ""  # the payload of an erased event


def erase(connection: Connection, study: Study) -> set[str]:
    """Erase a study whose last event says so; the digests of the arrays that it named."""
    named = _arrays_of(connection, study)
    actors = set(connection.execute(select(events.c.actor).where(events.c.study_id == study.id).distinct()).scalars())
    with overwriting(connection):
        told = (events.c.study_id == study.id) & (events.c.type != StudyErased.type)
        connection.execute(update(events).where(told).values(payload=ERASED, reason=None))
        for table in reversed(metadata.sorted_tables):  # all that belongs to a study, whoever made the table
            if "study_id" in table.c and table is not events:
                connection.execute(delete(table).where(table.c.study_id == study.id))
        empty = {"configuration": NOTHING, "requested": NOTHING, "columns": "[]", "candidates": 0}
        empty |= {"reservations": "[]", "imports": "[]"}
        connection.execute(update(studies).where(studies.c.id == study.id).values(**empty))
        # Answers to requests may repeat what was in the study, and do not say of which study they are.
        answered = idempotency.c.key_id.in_(actors) & (idempotency.c.created_at >= study.created_at)
        answered &= idempotency.c.status.is_not(None)  # this request has claimed its token, and will store its answer
        connection.execute(delete(idempotency).where(answered))
    return named


def copies_of(connection: Connection, study: Study) -> tuple[str, ...]:
    """The studies that hold copies of this one's results: its forks, and those that borrowed from it."""
    forks = {
        event.fork
        for entry in ledger.of_types(connection, study.id, (StudyForked.type,))
        if entry.payload and isinstance(event := entry.event(), StudyForked)
    }
    borrowing = (events.c.type == ResultsBorrowed.type) & (events.c.study_id != study.id)
    named = events.c.payload.contains(f'"study":{canonical(study.ledger_name)}', autoescape=True)
    query = select(studies.c.name).join(events, events.c.study_id == studies.c.id).where(borrowing, named)
    return tuple(sorted(forks | set(connection.execute(query).scalars())))


@contextmanager
def overwriting(connection: Connection) -> Iterator[None]:
    """Overwrite what is deleted in this block: by default SQLite only forgets where it was."""
    if connection.dialect.name != "sqlite":
        yield
        return
    connection.exec_driver_sql("PRAGMA secure_delete = ON")
    try:
        yield
    finally:
        connection.exec_driver_sql("PRAGMA secure_delete = OFF")


def empty_log(database: Database) -> None:
    """Empty SQLite's write-ahead log, which may still hold what was erased, unless somebody reads it now."""
    if database.file is not None:
        with database.writer.connect() as connection:
            connection.rollback()
            connection.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _arrays_of(connection: Connection, study: Study) -> set[str]:
    query = select(events).where(
        events.c.study_id == study.id, events.c.type.in_([event.type for event in ARRAY_EVENTS]), events.c.payload != ""
    )
    of_ledger = (digests_of(decode(row.type, row.format, row.payload, row.seq)) for row in connection.execute(query))
    of_snapshots = select(snapshot_blobs.c.digest).where(snapshot_blobs.c.study_id == study.id)
    return set().union(*of_ledger, connection.execute(of_snapshots).scalars())
