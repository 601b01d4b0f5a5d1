"""Engine states as rows: the newest few of each study, by the event they stand after and the build that made them."""

import json
from typing import Any

from sqlalchemy import Connection, delete, select

from app.domain.clock import now
from app.domain.studies import Study
from app.storage import blobs
from app.storage.database import Database
from app.storage.inserting import insert_if_absent
from app.storage.tables import engine_states

KEPT = 2


def keep(database: Database, study: Study, head: str, seq: int, build: str, record: str) -> None:
    """Add a state, and drop the oldest ones with the blobs that only they name."""
    row = {"study_id": study.id, "head": head, "build": build, "seq": seq, "record": record, "created_at": now()}
    with database.write() as connection:
        insert_if_absent(connection, engine_states, row)
        query = select(engine_states).where(engine_states.c.study_id == study.id).order_by(engine_states.c.seq.desc())
        newest, older = _split(connection.execute(query).all())
        for one in older:
            where = (engine_states.c.study_id == study.id, engine_states.c.head == one.head)
            connection.execute(delete(engine_states).where(*where, engine_states.c.build == one.build))
        blobs.drop(connection, _digests(older) - _digests(newest))


def find(connection: Connection, study: Study, head: str, build: str) -> str | None:
    where = (engine_states.c.study_id == study.id, engine_states.c.head == head, engine_states.c.build == build)
    found: str | None = connection.execute(select(engine_states.c.record).where(*where)).scalar_one_or_none()
    return found


def _split(rows: Any) -> tuple[list[Any], list[Any]]:
    return list(rows[:KEPT]), list(rows[KEPT:])


def _digests(rows: list[Any]) -> set[str]:
    digests: set[str] = set()
    for row in rows:
        record = json.loads(row.record)
        digests |= {*record["arrays"].values(), *record["Z"], record["X"], *record["observations"].values()}
    return digests
