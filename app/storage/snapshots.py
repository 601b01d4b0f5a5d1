"""Snapshots of models as rows: the newest few of each study, by the event they follow and the build that made them.

A cache: a lost or damaged snapshot is computed again from the ledger. Here a record is a text with a checksum and
the blobs that it names; only `app.compute.snapshots` knows what it means.
"""

from collections.abc import Collection
from hashlib import sha256

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, select

from app.domain.clock import now
from app.storage import blobs
from app.storage.database import Database
from app.storage.tables import snapshot_blobs, snapshots

KEPT = 2


def keep(
    database: Database, study_id: int, head: str, seq: int, build: str, record: str, digests: Collection[str]
) -> None:
    """Add a snapshot. The oldest ones go, with the blobs that no other snapshot of the study names."""
    row = {"study_id": study_id, "head": head, "build": build, "seq": seq, "record": record}
    with database.write() as connection:
        before = _blobs_of(connection, study_id)
        _drop(connection, study_id, head, build)  # an earlier one may be damaged
        connection.execute(insert(snapshots).values(**row, checksum=_checksum(record), created_at=now()))
        named = [{"study_id": study_id, "head": head, "build": build, "digest": digest} for digest in sorted(digests)]
        connection.execute(insert(snapshot_blobs), named)
        newest_first = snapshots.c.seq.desc()
        query = select(snapshots.c.head, snapshots.c.build).where(snapshots.c.study_id == study_id)
        for older in connection.execute(query.order_by(newest_first).offset(KEPT)).all():
            _drop(connection, study_id, older.head, older.build)
        blobs.drop(connection, before - _blobs_of(connection, study_id))


def find(connection: Connection, study_id: int, head: str, build: str) -> str | None:
    """The record of a snapshot; None if there is none, or if it is damaged."""
    query = select(snapshots.c.record, snapshots.c.checksum).where(_is(snapshots, study_id, head, build))
    row = connection.execute(query).first()
    return row.record if row is not None and row.checksum == _checksum(row.record) else None


def forget(database: Database, study_id: int, head: str, build: str) -> None:
    """Drop a snapshot and all its blobs, also those that another one shares: they may be what is damaged."""
    with database.write() as connection:
        named = select(snapshot_blobs.c.digest).where(_is(snapshot_blobs, study_id, head, build))
        digests = set(connection.execute(named).scalars())
        _drop(connection, study_id, head, build)
        blobs.drop(connection, digests)


def _drop(connection: Connection, study_id: int, head: str, build: str) -> None:
    for table in (snapshot_blobs, snapshots):
        connection.execute(delete(table).where(_is(table, study_id, head, build)))


def _blobs_of(connection: Connection, study_id: int) -> set[str]:
    query = select(snapshot_blobs.c.digest).where(snapshot_blobs.c.study_id == study_id)
    return set(connection.execute(query).scalars())


def _is(table: Table, study_id: int, head: str, build: str) -> ColumnElement[bool]:
    return (table.c.study_id == study_id) & (table.c.head == head) & (table.c.build == build)


def _checksum(record: str) -> str:
    return sha256(record.encode()).hexdigest()
