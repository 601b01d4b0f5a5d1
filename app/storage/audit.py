"""The audit log as rows. An entry is written in the transaction of what it tells: both are there, or neither."""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, insert, select

from app.domain.access import Actor
from app.domain.audit import AUDIT_LOG, AuditAction, AuditEntry, seal
from app.domain.clock import now
from app.domain.codec import canonical
from app.domain.heads import Head
from app.domain.ledger import GENESIS
from app.storage.database import note_head
from app.storage.dialects import Lock, hold
from app.storage.tables import audit

_LAST = select(audit.c.seq, audit.c.hash).order_by(audit.c.seq.desc()).limit(1)
_RECORD_OF_AUDIT = 0  # studies have ids from 1
ROWS_AT_A_TIME = 500


def append(connection: Connection, actor: Actor, action: AuditAction, details: Mapping[str, Any]) -> AuditEntry:
    """Append an entry to the chain; writers take turns from here until they commit."""
    hold(connection, Lock.AUDIT)
    last = connection.execute(_LAST).first()
    fields: dict[str, Any] = {
        "seq": last.seq + 1 if last else 1,
        "action": action.value,
        "actor": actor.key.id,
        "details": canonical(details),
        "address": actor.address,
        "recorded_at": now(),
        "request_id": actor.request_id,
        "previous": last.hash if last else GENESIS,
    }
    entry = AuditEntry(**fields, hash=seal(fields))
    connection.execute(insert(audit), vars(entry))
    note_head(connection, _RECORD_OF_AUDIT, Head(AUDIT_LOG, entry.seq, entry.hash))
    return entry


def read(connection: Connection, after: int = 0, limit: int | None = None) -> Iterator[AuditEntry]:
    """The entries after `after`, oldest first."""
    query = select(audit).where(audit.c.seq > after).order_by(audit.c.seq).limit(limit)
    with connection.execute(query.execution_options(yield_per=ROWS_AT_A_TIME)) as rows:
        for row in rows:
            yield AuditEntry(**row._mapping)  # noqa: SLF001


def newest(connection: Connection) -> Head | None:
    last = connection.execute(_LAST).first()
    return Head(AUDIT_LOG, last.seq, last.hash) if last else None


def hash_of(connection: Connection, seq: int) -> str | None:
    digest: str | None = connection.execute(select(audit.c.hash).where(audit.c.seq == seq)).scalar_one_or_none()
    return digest
