"""Answers kept under their Idempotency-Key, in the transaction of the write they answer."""

import json

from sqlalchemy import Connection, bindparam, delete, select, update

from app.domain.answers import Answer
from app.domain.clock import now
from app.domain.errors import IdempotencyKeyReused
from app.storage.inserting import insert_if_absent
from app.storage.tables import idempotency

_THIS = (idempotency.c.key_id == bindparam("owner")) & (idempotency.c.token == bindparam("said"))
_FIND = select(idempotency).where(_THIS)
_KEEP = update(idempotency).where(_THIS)


def claim(connection: Connection, key_id: str, token: str, fingerprint: str) -> Answer | None:
    """The kept answer of this token, or None and the token is ours.

    A second request with the same token waits here until the first has committed (then it gets the answer)
    or rolled back (then it does the work).
    """
    row = {"key_id": key_id, "token": token, "fingerprint": fingerprint, "created_at": now()}
    return None if insert_if_absent(connection, idempotency, row) else find(connection, key_id, token, fingerprint)


def find(connection: Connection, key_id: str, token: str, fingerprint: str) -> Answer | None:
    """The kept answer of this token, if the request came before."""
    kept = connection.execute(_FIND, {"owner": key_id, "said": token}).first()
    if kept is None:
        return None
    if kept.fingerprint != fingerprint:
        raise IdempotencyKeyReused
    return Answer(kept.status, kept.body, json.loads(kept.headers))


def keep(connection: Connection, key_id: str, token: str, answer: Answer) -> None:
    kept = {
        "status": answer.status,
        "body": answer.kept_body or answer.body,
        "headers": json.dumps(dict(answer.headers)),
    }
    connection.execute(_KEEP, {"owner": key_id, "said": token, **kept})


def are_kept(connection: Connection, before: str) -> bool:
    """Whether there are any of before a moment."""
    return (
        connection.execute(select(idempotency.c.token).where(idempotency.c.created_at < before).limit(1)).first()
        is not None
    )


def forget(connection: Connection, before: str) -> int:
    """Drop the answers kept before a moment."""
    return connection.execute(delete(idempotency).where(idempotency.c.created_at < before)).rowcount
