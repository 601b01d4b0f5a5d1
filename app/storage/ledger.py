"""The ledger as rows: events are appended to a study's chain and applied to the tables, in one transaction."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, update

from app.deadline import check_deadline
from app.domain.access import Actor
from app.domain.clock import now
from app.domain.events import ObservationsReported, ObservationsReportedAgain, StudyEvent
from app.domain.heads import Head
from app.domain.ledger import FORMAT, RENAMING, EarlierName, LedgerEntry, earlier_names, encode, seal
from app.domain.studies import Study
from app.failpoints import reach
from app.storage import projections
from app.storage.database import locked_studies, note_head
from app.storage.prepared import Prepared, RowInsert
from app.storage.tables import events, studies
from app.storage.waiting_rows import insert_rows, update_later

_ADD = RowInsert(events)
_MOVE_HEAD = Prepared(update(studies).where(studies.c.id == bindparam("study")), columns=("seq", "head"))
_HASH = select(events.c.hash).where(events.c.study_id == bindparam("study"), events.c.seq == bindparam("seq"))
_PART = (events.c.seq > bindparam("after")) & (events.c.seq <= bindparam("until"))
_READ = select(events).where(events.c.study_id == bindparam("study"), _PART).order_by(events.c.seq)
_ROWS_AT_A_TIME = 500
_NO_LIMIT = 2**31 - 1


def append(connection: Connection, study: Study, actor: Actor, event: StudyEvent, reason: str | None = None) -> Study:
    """Append an event to the ledger of a locked study; the study as it is then."""
    fields: dict[str, Any] = {
        "seq": study.seq + 1,
        "type": event.type,
        "format": FORMAT,
        "payload": encode(event),
        "actor": actor.key.id,
        "reason": reason,
        "recorded_at": now(),
        "request_id": actor.request_id,
        "previous": study.head,
    }
    return add(connection, study, LedgerEntry(**fields, hash=seal(study.ledger_name, fields)), event)


def add(connection: Connection, study: Study, entry: LedgerEntry, event: StudyEvent) -> Study:
    """Add an entry as it is, new or imported, and apply its event to the tables."""
    insert_rows(connection, _ADD, [(study.id, *vars(entry).values())])
    reach("appended")
    changed = move(connection, study, entry, event)
    note_head(connection, study.id, Head(study.ledger_name, entry.seq, entry.hash))
    locked_studies(connection)[study.name] = changed
    reach("projected")
    return changed


def move(connection: Connection, study: Study, entry: LedgerEntry, event: StudyEvent) -> Study:
    """Move the head to an entry of the ledger, and apply its event to the tables."""
    update_later(connection, _MOVE_HEAD, study.id, {"study": study.id, "seq": entry.seq, "head": entry.hash})
    return projections.apply(connection, replace(study, seq=entry.seq, head=entry.hash), entry, event)


def has_digest(connection: Connection, study_id: int, digest: str) -> bool:
    """Whether a body with this digest was reported before. It looks at every report, so it is asked for rarely."""
    types = (ObservationsReported.type, ObservationsReportedAgain.type)
    reported = (events.c.study_id == study_id) & events.c.type.in_(types)
    named = events.c.payload.contains(f'"digest":"{digest}"', autoescape=True)
    return connection.execute(select(events.c.seq).where(reported, named).limit(1)).first() is not None


def event_at(connection: Connection, study_id: int, seq: int) -> StudyEvent:
    """The event with this number."""
    [entry] = read(connection, study_id, after=seq - 1, until=seq)
    return entry.event()


def last_seq(connection: Connection, study_id: int) -> int:
    """The seq of the last event in the table: the study's own `seq`, unless somebody tampered."""
    query = select(func.max(events.c.seq)).where(events.c.study_id == study_id)
    return connection.execute(query).scalar_one() or 0


def hash_of(connection: Connection, study_id: int, seq: int) -> str | None:
    """The hash of an entry, which identifies the whole prefix that ends with it."""
    digest: str | None = connection.execute(_HASH, {"study": study_id, "seq": seq}).scalar_one_or_none()
    return digest


def names_before(connection: Connection, study_id: int) -> tuple[EarlierName, ...]:
    """The names that a ledger had before it was forked, or imported under another name."""
    return earlier_names(of_types(connection, study_id, RENAMING))


def of_types(connection: Connection, study_id: int, types: Sequence[str]) -> list[LedgerEntry]:
    """The entries of some types, oldest first; meant for rare ones."""
    query = select(events).where(events.c.study_id == study_id, events.c.type.in_(types)).order_by(events.c.seq)
    return [_entry(row) for row in connection.execute(query)]


def read(
    connection: Connection, study_id: int, after: int = 0, limit: int | None = None, until: int = _NO_LIMIT
) -> Iterator[LedgerEntry]:
    """The entries after `after` and not beyond `until`, oldest first."""
    query = _READ if limit is None else _READ.limit(limit)
    if until - after > _ROWS_AT_A_TIME:  # PostgreSQL makes a cursor for it
        query = query.execution_options(yield_per=_ROWS_AT_A_TIME)
    with connection.execute(query, {"study": study_id, "after": after, "until": until}) as rows:
        for row in rows:
            check_deadline()
            yield _entry(row)


def _entry(row: Row[Any]) -> LedgerEntry:
    columns = dict(row._mapping)  # noqa: SLF001
    del columns["study_id"]
    return LedgerEntry(**columns)
