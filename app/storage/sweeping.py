"""Blobs that nothing names: left by refused uploads, by processes that died, by snapshots of deleted studies.

What the ledger names stays, also of lists that were replaced and of studies that were deleted: it is history.
"""

import re
from collections.abc import Iterable

from sqlalchemy import Connection, Exists, delete, exists, select

from app.storage import blobs as arrays
from app.storage.database import Database
from app.storage.tables import blob_chunks, blobs, candidate_blocks, engine_states, events, studies

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
UPLOADS = ("candidates-uploaded", "candidates-added")


def sweep(database: Database, before: str) -> int:
    """Drop blobs stored before a moment that nothing names, and chunks of no blob; how many there were of both.

    Who stores or names a blob meanwhile, in any process, finds it whole or stores it again: see `blobs`.
    """
    with database.read() as connection:
        cut_off = _cut_off(connection)
        unnamed = _unnamed(connection, before)
    if unnamed:
        with database.write() as connection:
            arrays.lock_alone(connection)
            connection.execute(delete(engine_states).where(_of_deleted()))
            unnamed = _unnamed(connection, before)
            for digest in unnamed:
                connection.execute(delete(blobs).where(blobs.c.digest == digest))
    for digest in {*cut_off, *unnamed}:
        _drop_chunks(database, digest)
    return len({*cut_off, *unnamed})


def _unnamed(connection: Connection, before: str) -> set[str]:
    old = set(connection.execute(select(blobs.c.digest).where(blobs.c.created_at < before)).scalars())
    uploads = select(events.c.payload).where(events.c.type.in_(UPLOADS))
    for query in (select(candidate_blocks.c.arrays), select(engine_states.c.record).where(~_of_deleted()), uploads):
        if old:  # the ledger is long, and seldom has to be asked
            old -= _digests(connection.execute(query.execution_options(yield_per=100)).scalars())
    return old


def _digests(texts: Iterable[str]) -> set[str]:
    return {digest for text in texts for digest in _DIGEST.findall(text)}


def _of_deleted() -> Exists:
    return exists().where(studies.c.id == engine_states.c.study_id, studies.c.state == "deleted")


def _cut_off(connection: Connection) -> set[str]:
    """Of what there are chunks, and no blob."""
    listed = exists().where(blobs.c.digest == blob_chunks.c.digest)
    return set(connection.execute(select(blob_chunks.c.digest).distinct().where(~listed)).scalars())


def _drop_chunks(database: Database, digest: str) -> None:
    """A few at a time, so that others get their turns; unless there is a blob of them by now."""
    mine, numbers = blob_chunks.c.digest == digest, [0]
    while numbers:
        with database.write() as connection:
            arrays.lock_alone(connection)
            if connection.execute(select(blobs.c.digest).where(blobs.c.digest == digest)).first():
                return
            few = select(blob_chunks.c.number).where(mine, blob_chunks.c.number >= numbers[-1])
            numbers = list(connection.execute(few.order_by("number").limit(arrays.CHUNKS_PER_COMMIT)).scalars())
            connection.execute(delete(blob_chunks).where(mine, blob_chunks.c.number.in_(numbers)))
