"""Engine states as rows: the newest few of each study, by the event they stand after and the build that made them."""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from app.domain.clock import now
from app.domain.studies import Study
from app.storage import blobs
from app.storage.database import Database
from app.storage.tables import engine_states

KEPT = 2


def keep(database: Database, study: Study, head: str, seq: int, build: str, record: str) -> None:
    """Add a state, and drop the oldest ones with the blobs that only they name."""
    sealed = f"{_hash(record)} {record}"
    row = {"study_id": study.id, "head": head, "build": build, "seq": seq, "record": sealed, "created_at": now()}
    with database.write() as connection:
        connection.execute(delete(engine_states).where(_is(study, head, build)))  # it may be damaged
        connection.execute(insert(engine_states).values(**row))
        query = select(engine_states).where(engine_states.c.study_id == study.id).order_by(engine_states.c.seq.desc())
        newest, older = _split(connection.execute(query).all())
        for one in older:
            connection.execute(delete(engine_states).where(_is(study, one.head, one.build)))
        blobs.drop(connection, _digests(older) - _digests(newest))


def find(connection: Connection, study: Study, head: str, build: str) -> str | None:
    query = select(engine_states.c.record).where(_is(study, head, build))
    found = connection.execute(query).scalar_one_or_none()
    return _unsealed(found) if found is not None else None


def forget(database: Database, study: Study, head: str, build: str) -> None:
    """Drop a state and all its blobs."""
    with database.write() as connection:
        rows = connection.execute(select(engine_states).where(_is(study, head, build))).all()
        connection.execute(delete(engine_states).where(_is(study, head, build)))
        blobs.drop(connection, _digests(rows))


def _is(study: Study, head: str, build: str) -> ColumnElement[bool]:
    this = (engine_states.c.study_id == study.id) & (engine_states.c.head == head)
    return this & (engine_states.c.build == build)


def _unsealed(sealed: str) -> str | None:
    """The record; None if it is not what was written."""
    digest, _, record = sealed.partition(" ")
    return record if _hash(record) == digest else None


def _hash(record: str) -> str:
    return sha256(record.encode()).hexdigest()


def _split(rows: Any) -> tuple[list[Any], list[Any]]:
    return list(rows[:KEPT]), list(rows[KEPT:])


def _digests(rows: Sequence[Any]) -> set[str]:
    digests: set[str] = set()
    for row in rows:
        unsealed = _unsealed(row.record)
        if unsealed is None:
            continue
        record = json.loads(unsealed)
        digests |= {*record["arrays"].values(), *record["Z"], record["X"], *record["observations"].values()}
    return digests
