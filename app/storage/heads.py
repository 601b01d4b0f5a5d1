"""Heads in the database: the newest ones, and what became of earlier ones."""

from collections.abc import Iterable

from sqlalchemy import Connection, inspect

from app.domain.audit import AUDIT_LOG
from app.domain.heads import Head, HeadCheck, HeadState
from app.storage import audit, ledger, studies
from app.storage.tables import events


def every(connection: Connection) -> list[Head]:
    """The newest head of every study, the deleted ones as well, and of the audit log."""
    of_studies = [Head(*row) for row in studies.heads(connection)]
    of_audit = audit.newest(connection)
    return [*of_studies, of_audit] if of_audit else of_studies


def check(connection: Connection, heads: Iterable[Head]) -> list[HeadCheck]:
    """What became of each head in this database, which may be empty or of an older schema."""
    if not inspect(connection).has_table(events.name):
        return [HeadCheck(head, HeadState.MISSING, 0) for head in heads]
    return [_check(connection, head) for head in heads]


def _check(connection: Connection, head: Head) -> HeadCheck:
    if head.study == AUDIT_LOG:
        newest = audit.newest(connection)
        return _compared(head, newest.seq if newest else 0, audit.hash_of(connection, head.seq))
    checks = [
        _compared(head, ledger.last_seq(connection, study_id), ledger.hash_of(connection, study_id, head.seq))
        for study_id in studies.ids_of(connection, head.study)
    ]
    kept = [check for check in checks if check.state is HeadState.KEPT]  # by one of those that had this name
    return next(iter(kept or checks), HeadCheck(head, HeadState.MISSING, 0))


def _compared(head: Head, last: int, found: str | None) -> HeadCheck:
    if found is None:
        return HeadCheck(head, HeadState.CUT, last)
    return HeadCheck(head, HeadState.KEPT if found == head.hash else HeadState.REWRITTEN, last)
