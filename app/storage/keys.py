"""API keys and what they are granted."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from app.domain.access import Key, Role
from app.storage.prepared import Prepared
from app.storage.tables import api_keys, grants, studies

_GRANTED = api_keys.outerjoin(grants).outerjoin(studies)
_EVERY = select(api_keys, studies.c.name.label("study")).select_from(_GRANTED).order_by(studies.c.name)
_FIND = _EVERY.where(api_keys.c.id == bindparam("key"))
_END = Prepared(select(api_keys.c.expires_at, api_keys.c.revoked_at).where(api_keys.c.id == bindparam("key")))


def add(connection: Connection, key: Key, secret_hash: str) -> None:
    fields = {name: value for name, value in vars(key).items() if name != "studies"}
    connection.execute(insert(api_keys).values(**fields, secret_hash=secret_hash))


def find(connection: Connection, key_id: str) -> tuple[Key, str] | None:
    """The key and the hash of its secret."""
    rows = connection.execute(_FIND, {"key": key_id}).all()
    return (_key(rows), rows[0].secret_hash) if rows else None


def is_alive(connection: Connection, key_id: str, moment: str) -> bool:
    """Whether the key exists, was not revoked, and has not expired at `moment`."""
    rows = _END.tuples(connection, {"key": key_id})
    return any(revoked_at is None and (expires_at is None or expires_at > moment) for expires_at, revoked_at in rows)


def every(connection: Connection) -> tuple[Key, ...]:
    by_id: dict[str, list[Row[Any]]] = defaultdict(list)
    for row in connection.execute(_EVERY):
        by_id[row.id].append(row)
    return tuple(sorted(map(_key, by_id.values()), key=lambda key: (key.created_at, key.id)))


def revoke(connection: Connection, key_id: str, moment: str) -> None:
    """Revoked at `moment`, unless it was revoked before."""
    unrevoked = (api_keys.c.id == key_id) & api_keys.c.revoked_at.is_(None)
    connection.execute(update(api_keys).where(unrevoked).values(revoked_at=moment))


def ended(connection: Connection, moment: str) -> frozenset[str]:
    """The keys that were revoked, or expired before `moment`."""
    over = api_keys.c.revoked_at.is_not(None) | (api_keys.c.expires_at <= moment)
    return frozenset(connection.execute(select(api_keys.c.id).where(over)).scalars())


def exist(connection: Connection) -> bool:
    return connection.execute(select(api_keys.c.id).limit(1)).first() is not None


def _key(rows: Sequence[Row[Any]]) -> Key:
    """From a row for each study it is granted, or one without a study."""
    row, granted = rows[0], tuple(row.study for row in rows if row.study is not None)
    return Key(row.id, row.name, Role(row.role), row.created_at, row.expires_at, row.revoked_at, granted)
