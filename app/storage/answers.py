"""Answers stored under their Idempotency-Key, in the transaction of the write that they answer."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from app.domain.clock import now
from app.domain.errors import IdempotencyKeyReused
from app.storage.database import foreseen
from app.storage.dialects import in_parts, insert_if_absent
from app.storage.prepared import Prepared, RowInsert
from app.storage.tables import idempotency
from app.storage.waiting_rows import insert_rows

_THIS = (idempotency.c.key_id == bindparam("owner")) & (idempotency.c.token == bindparam("idempotency_key"))
_FIND = Prepared(select(idempotency).where(_THIS))
_FIND_ALL = Prepared(
    select(idempotency).where(
        idempotency.c.key_id == bindparam("owner"), idempotency.c.token.in_(bindparam("tokens", expanding=True))
    ),
    listed=("tokens",),
)
_ADD = RowInsert(idempotency)
_STORE = Prepared(update(idempotency).where(_THIS), columns=("status", "body", "headers"))


@dataclass(frozen=True)
class Answer:
    """What is sent now, and what the same request is sent again, byte for byte."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    stored_body: bytes | None = None  # stored instead of `body` when `body` holds a secret


def foresee(connection: Connection, tokens: Iterable[tuple[str, str]]) -> None:
    """Find the answers of all tokens of a group at once, each given with the id of its API key.

    Nobody else can use a token meanwhile for the same request, because the group holds the lock of its study. If it is
    used for another request at this very moment, the second row of the same token is refused.
    """
    by_owner: dict[str, set[str]] = defaultdict(set)
    for key_id, token in tokens:
        by_owner[key_id].add(token)
    for key_id, texts in by_owner.items():
        foreseen(connection).update({(key_id, text): None for text in texts})
        for part in in_parts(sorted(texts)):
            for row in _FIND_ALL.rows(connection, {"owner": key_id, "tokens": part}):
                foreseen(connection)[key_id, row["token"]] = _stored(row)


def claim(connection: Connection, key_id: str, token: str, fingerprint: str) -> Answer | None:
    """The stored answer of this token; None if it is new, and then it belongs to this transaction.

    A second request with the same token waits here until the first has committed, and gets its answer, or until it has
    rolled back, and does the work.
    """
    if (key_id, token) in foreseen(connection):
        return _checked(foreseen(connection)[key_id, token], fingerprint)
    row = {"key_id": key_id, "token": token, "fingerprint": fingerprint, "created_at": now()}
    return None if insert_if_absent(connection, idempotency, row) else find(connection, key_id, token, fingerprint)


def find(connection: Connection, key_id: str, token: str, fingerprint: str) -> Answer | None:
    """The stored answer of this token, if the same request came before."""
    rows = _FIND.rows(connection, {"owner": key_id, "idempotency_key": token})
    return _checked(_stored(rows[0]), fingerprint) if rows else None


def store(connection: Connection, key_id: str, token: str, fingerprint: str, answer: Answer) -> None:
    """Store the answer of a token that was claimed."""
    body, headers = answer.stored_body or answer.body, json.dumps(dict(answer.headers))
    if (key_id, token) in foreseen(connection):
        insert_rows(connection, _ADD, [(key_id, token, fingerprint, answer.status, headers, body, now())])
        foreseen(connection)[key_id, token] = fingerprint, Answer(answer.status, body, answer.headers)
    else:
        columns = {"status": answer.status, "body": body, "headers": headers}
        _STORE.run(connection, {"owner": key_id, "idempotency_key": token, **columns})


def _stored(row: Mapping[str, Any]) -> tuple[str, Answer]:
    return row["fingerprint"], Answer(row["status"], row["body"], json.loads(row["headers"]))


def _checked(stored: tuple[str, Answer] | None, fingerprint: str) -> Answer | None:
    """The answer, unless it is that of another request."""
    if stored is None:
        return None
    if stored[0] != fingerprint:
        raise IdempotencyKeyReused
    return stored[1]


def any_older_than(connection: Connection, moment: str) -> bool:
    """Whether any answer is older than `moment`."""
    query = select(idempotency.c.token).where(idempotency.c.created_at < moment).limit(1)
    return connection.execute(query).first() is not None


def drop_older_than(connection: Connection, moment: str) -> int:
    """Drop the answers that are older than `moment`; how many there were."""
    return connection.execute(delete(idempotency).where(idempotency.c.created_at < moment)).rowcount
