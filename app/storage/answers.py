"""Answers stored under their Idempotency-Key, in the transaction of the write that they answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, delete, select, update

from app.domain.clock import now
from app.domain.errors import IdempotencyKeyReused
from app.storage.dialects import insert_if_absent
from app.storage.prepared import Prepared
from app.storage.tables import idempotency

_THIS = (idempotency.c.key_id == bindparam("owner")) & (idempotency.c.token == bindparam("idempotency_key"))
_FIND = Prepared(select(idempotency).where(_THIS))
_STORE = Prepared(update(idempotency).where(_THIS), columns=("status", "body", "headers"))


@dataclass(frozen=True)
class Answer:
    """What is sent now, and what the same request is sent again, byte for byte."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    stored_body: bytes | None = None  # stored instead of `body` when `body` holds a secret


def claim(connection: Connection, key_id: str, token: str, fingerprint: str) -> Answer | None:
    """The stored answer of this token; None if it is new, and then it belongs to this transaction.

    A second request with the same token waits here until the first has committed, and gets its answer, or until it has
    rolled back, and does the work.
    """
    row = {"key_id": key_id, "token": token, "fingerprint": fingerprint, "created_at": now()}
    return None if insert_if_absent(connection, idempotency, row) else find(connection, key_id, token, fingerprint)


def find(connection: Connection, key_id: str, token: str, fingerprint: str) -> Answer | None:
    """The stored answer of this token, if the same request came before."""
    rows = _FIND.rows(connection, {"owner": key_id, "idempotency_key": token})
    if not rows:
        return None
    [row] = rows
    if row["fingerprint"] != fingerprint:
        raise IdempotencyKeyReused
    return Answer(row["status"], row["body"], json.loads(row["headers"]))


def store(connection: Connection, key_id: str, token: str, answer: Answer) -> None:
    columns = {
        "status": answer.status,
        "body": answer.stored_body or answer.body,
        "headers": json.dumps(dict(answer.headers)),
    }
    _STORE.run(connection, {"owner": key_id, "idempotency_key": token, **columns})


def any_older_than(connection: Connection, moment: str) -> bool:
    """Whether any answer is older than `moment`."""
    query = select(idempotency.c.token).where(idempotency.c.created_at < moment).limit(1)
    return connection.execute(query).first() is not None


def drop_older_than(connection: Connection, moment: str) -> int:
    """Drop the answers that are older than `moment`; how many there were."""
    return connection.execute(delete(idempotency).where(idempotency.c.created_at < moment)).rowcount
