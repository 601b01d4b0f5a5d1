"""Sweeping: delete blobs that nothing names, left by refused uploads, dead processes and dropped snapshots.

Blobs that the ledger names stay, also those of replaced lists and of deleted studies: they are history.
"""

from collections.abc import Collection, Iterable, Iterator

from sqlalchemy import Column, Connection, Exists, delete, exists, select

from app.domain.candidates import BlockArrays
from app.domain.codec import from_plain, read_json
from app.domain.event_arrays import ARRAY_EVENTS, digests_of
from app.domain.ledger import decode
from app.domain.studies import StudyState
from app.storage.blobs import CHUNKS_PER_COMMIT
from app.storage.database import Database
from app.storage.dialects import Lock, hold
from app.storage.erasing import ERASED, overwriting
from app.storage.tables import blob_chunks, blobs, candidate_blocks, events, snapshot_blobs, snapshots, studies


def sweep(database: Database, before: str) -> int:
    """Delete blobs that were stored before a moment and that nothing names, and chunks without a blob.

    Returns how many there were of both. A process that stores or names a blob at the same time finds it whole, or
    stores it again: see `blobs`.
    """
    with database.read() as connection:
        orphaned = _orphaned_chunks(connection)
        unnamed = _unnamed_blobs(connection, before)
    if unnamed:
        with database.write() as connection:
            hold(connection, Lock.BLOBS)
            for table in (snapshot_blobs, snapshots):
                connection.execute(delete(table).where(_study_is_deleted(table.c.study_id)))
            unnamed = _unnamed_blobs(connection, before)
            for digest in unnamed:
                connection.execute(delete(blobs).where(blobs.c.digest == digest))
    for digest in orphaned | unnamed:
        _drop_chunks(database, digest)
    return len(orphaned | unnamed)


def drop(database: Database, digests: Collection[str]) -> None:
    """Delete those of some blobs that nothing names any more, and overwrite them."""
    with database.write() as connection:
        hold(connection, Lock.BLOBS)
        unnamed = _unnamed(connection, set(digests))
        for digest in unnamed:
            connection.execute(delete(blobs).where(blobs.c.digest == digest))
    for digest in unnamed:
        _drop_chunks(database, digest)


def _unnamed_blobs(connection: Connection, before: str) -> set[str]:
    old = set(connection.execute(select(blobs.c.digest).where(blobs.c.created_at < before)).scalars())
    return _unnamed(connection, old)


def _unnamed(connection: Connection, unnamed: set[str]) -> set[str]:
    for named in (_named_by_blocks, _named_by_snapshots, _named_by_ledgers):
        if unnamed:  # reading the ledgers takes long, and is seldom necessary
            unnamed -= set(named(connection))
    return unnamed


def _named_by_blocks(connection: Connection) -> Iterator[str]:
    for arrays in connection.execute(select(candidate_blocks.c.arrays)).scalars():
        yield from from_plain(BlockArrays, read_json(arrays)).digests()


def _named_by_snapshots(connection: Connection) -> Iterable[str]:
    living = ~_study_is_deleted(snapshot_blobs.c.study_id)
    return connection.execute(select(snapshot_blobs.c.digest).where(living)).scalars()


def _named_by_ledgers(connection: Connection) -> Iterator[str]:
    types = [event.type for event in ARRAY_EVENTS]
    query = select(events.c.type, events.c.format, events.c.payload, events.c.seq).where(
        events.c.type.in_(types), events.c.payload != ERASED
    )
    for row in connection.execute(query.execution_options(yield_per=100)):
        yield from digests_of(decode(row.type, row.format, row.payload, row.seq))


def _study_is_deleted(study_id: Column[int]) -> Exists:
    return exists().where(studies.c.id == study_id, studies.c.state == StudyState.DELETED)


def _orphaned_chunks(connection: Connection) -> set[str]:
    """The digests of chunks whose blob is not listed."""
    listed = exists().where(blobs.c.digest == blob_chunks.c.digest)
    return set(connection.execute(select(blob_chunks.c.digest).distinct().where(~listed)).scalars())


def _drop_chunks(database: Database, digest: str) -> None:
    """Delete a few chunks per transaction, so that other writers get their turn; stop if the blob is listed by now."""
    of_blob, numbers = blob_chunks.c.digest == digest, [0]
    while numbers:
        with database.write() as connection:
            hold(connection, Lock.BLOBS)
            if connection.execute(select(blobs.c.digest).where(blobs.c.digest == digest)).first():
                return
            few = select(blob_chunks.c.number).where(of_blob, blob_chunks.c.number >= numbers[-1])
            numbers = list(connection.execute(few.order_by("number").limit(CHUNKS_PER_COMMIT)).scalars())
            with overwriting(connection):
                connection.execute(delete(blob_chunks).where(of_blob, blob_chunks.c.number.in_(numbers)))
