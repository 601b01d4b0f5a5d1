"""The audit log as admins read and check it."""

from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.audit import AuditAction, AuditEntry, first_break
from app.domain.ledger import GENESIS
from app.services.use_cases import studies
from app.storage import audit


@dataclass(frozen=True)
class AuditVerification:
    """How many entries were checked, and the first one that is missing, altered or out of place."""

    entries: int
    broken_at: int | None
    head: str

    @property
    def sound(self) -> bool:
        return self.broken_at is None


def list_entries(connection: Connection, _actor: Actor, after: int, limit: int) -> list[AuditEntry]:
    return list(audit.read(connection, after, limit))


def verify_audit(connection: Connection, _actor: Actor) -> AuditVerification:
    """Compute every hash again. Of a tail that was cut off, only a head that was kept elsewhere tells."""
    newest = audit.newest(connection)
    broken = first_break(audit.read(connection))
    return AuditVerification(newest.seq if newest else 0, broken, newest.hash if newest else GENESIS)


def record_export(connection: Connection, actor: Actor, name: str) -> None:
    """Record that a study is about to leave the server as an archive."""
    study = studies.find(connection, actor, name)
    details = {"study": study.name, "events": study.seq, "head": study.head}
    audit.append(connection, actor, AuditAction.STUDY_EXPORTED, details)


def record_sign_in(connection: Connection, actor: Actor, *, remember: bool) -> None:
    audit.append(connection, actor, AuditAction.SIGNED_IN, {"remember": remember})


def record_table_export(connection: Connection, actor: Actor, name: str, table: str, file_format: str) -> None:
    """Record that the candidates or the results of a study are about to leave the server as a file."""
    study = studies.find(connection, actor, name)
    audit.append(
        connection, actor, AuditAction.TABLE_EXPORTED, {"study": study.name, "table": table, "format": file_format}
    )


def record_refused_sign_in(connection: Connection, actor: Actor, key_id: str | None, unrecorded: int) -> None:
    """Record a sign-in with a wrong, expired or revoked key, and how many were refused before without an entry."""
    details = {"key": key_id, "unrecorded": unrecorded}
    audit.append(connection, actor, AuditAction.SIGN_IN_REFUSED, details)


def record_copy(connection: Connection, actor: Actor, file: str) -> None:
    """Record that the whole database is about to be copied."""
    audit.append(connection, actor, AuditAction.DATABASE_COPIED, {"file": file})


def record_read(connection: Connection, actor: Actor, method: str, path: str) -> None:
    audit.append(connection, actor, AuditAction.READ, {"method": method, "path": path})
