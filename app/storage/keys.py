"""API keys and what they are granted."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from app.domain.access import Key, Role
from app.storage.tables import api_keys, grants, studies


def add(connection: Connection, key: Key, secret_hash: str) -> None:
    fields = {name: value for name, value in vars(key).items() if name != "studies"}
    connection.execute(insert(api_keys).values(**fields, secret_hash=secret_hash))


def find(connection: Connection, key_id: str) -> tuple[Key, str] | None:
    """The key and the hash of its secret."""
    row = connection.execute(select(api_keys).where(api_keys.c.id == key_id)).first()
    return (_key(row, _granted(connection, key_id)), row.secret_hash) if row else None


def every(connection: Connection) -> tuple[Key, ...]:
    rows = connection.execute(select(api_keys).order_by(api_keys.c.created_at, api_keys.c.id)).all()
    return tuple(_key(row, _granted(connection, row.id)) for row in rows)


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


def _granted(connection: Connection, key_id: str) -> Sequence[str]:
    query = select(studies.c.name).join(grants, grants.c.study_id == studies.c.id).where(grants.c.key_id == key_id)
    return connection.execute(query.order_by(studies.c.name)).scalars().all()


def _key(row: Row[Any], granted: Sequence[str]) -> Key:
    return Key(row.id, row.name, Role(row.role), row.created_at, row.expires_at, row.revoked_at, tuple(granted))
