"""Events: appended to a study's chain, and applied to the tables, inside one transaction."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from app.domain.access import Actor
from app.domain.clock import now
from app.domain.ledger import Event, canonical, seal
from app.domain.studies import Study
from app.failpoints import reach
from app.storage import projections
from app.storage.tables import events, studies

_ADD = insert(events)
_MOVE_HEAD = update(studies).where(studies.c.id == bindparam("study"))
_HASH = select(events.c.hash).where(events.c.study_id == bindparam("study"), events.c.seq == bindparam("seq"))
_PART = (events.c.seq > bindparam("after")) & (events.c.seq <= bindparam("until"))
_READ = select(events).where(events.c.study_id == bindparam("study"), _PART).order_by(events.c.seq)
_AT_A_TIME = 500
_LAST = 2**31 - 1


def append(
    connection: Connection,
    study: Study,
    actor: Actor,
    type: str,  # noqa: A002  (the word of the ledger)
    payload: Mapping[str, Any],
    reason: str | None = None,
) -> Study:
    """Append one event; the study must be locked. Returns the study as it is after it."""
    fields: dict[str, Any] = {
        "seq": study.seq + 1,
        "type": type,
        "payload": canonical(payload),
        "actor": actor.key.id,
        "reason": reason,
        "recorded_at": now(),
        "request_id": actor.request_id,
        "previous": study.head,
    }
    return take_in(connection, study, Event(**fields, hash=seal(study.name, fields)))


def take_in(connection: Connection, study: Study, event: Event) -> Study:
    """Add an event as it is (this server's own, or an imported one) and apply it."""
    connection.execute(_ADD, {"study_id": study.id, **vars(event)})
    reach("appended")
    connection.execute(_MOVE_HEAD, {"study": study.id, "seq": event.seq, "head": event.hash})
    projected = projections.apply(connection, replace(study, seq=event.seq, head=event.hash), event)
    reach("projected")
    return projected


def last_seq(connection: Connection, study: Study) -> int:
    """Of the events that are there: the study's own `seq`, unless somebody meddled."""
    query = select(func.max(events.c.seq)).where(events.c.study_id == study.id)
    return connection.execute(query).scalar_one() or 0


def hash_of(connection: Connection, study: Study, seq: int) -> str | None:
    """The hash of an event: it names the whole prefix that ends there."""
    found: str | None = connection.execute(_HASH, {"study": study.id, "seq": seq}).scalar_one_or_none()
    return found


def read(
    connection: Connection, study: Study, after: int = 0, limit: int | None = None, until: int = _LAST
) -> Iterator[Event]:
    """The events after `after` and not beyond `until`, oldest first."""
    query = _READ if limit is None else _READ.limit(limit)
    if until - after > _AT_A_TIME:  # PostgreSQL makes a cursor for it
        query = query.execution_options(yield_per=_AT_A_TIME)
    with connection.execute(query, {"study": study.id, "after": after, "until": until}) as rows:
        for row in rows:
            yield Event(**{name: value for name, value in row._mapping.items() if name != "study_id"})  # noqa: SLF001
