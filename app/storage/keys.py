"""API keys and what they are granted."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from app.domain.access import Key, Role
from app.domain.clock import now
from app.storage.prepared import Prepared
from app.storage.tables import api_keys, grants, key_secrets, stream_tickets, studies

_GRANTED = api_keys.outerjoin(grants).outerjoin(studies)
_EVERY = select(api_keys, studies.c.name.label("study")).select_from(_GRANTED).order_by(studies.c.name)
_FIND = _EVERY.where(api_keys.c.id == bindparam("key"))
_END = Prepared(
    select(api_keys.c.expires_at, api_keys.c.revoked_at).where(api_keys.c.id == bindparam("key")), overtakes=True
)


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


def names(connection: Connection, key_ids: Collection[str]) -> dict[str, str]:
    """The names of some keys by their ids; those that are no keys of this server are left out."""
    rows = connection.execute(select(api_keys.c.id, api_keys.c.name).where(api_keys.c.id.in_(sorted(key_ids))))
    return {row.id: row.name for row in rows}


def revoke(connection: Connection, key_id: str, moment: str) -> None:
    """Revoked at `moment`, unless it was revoked before."""
    unrevoked = (api_keys.c.id == key_id) & api_keys.c.revoked_at.is_(None)
    connection.execute(update(api_keys).where(unrevoked).values(revoked_at=moment))


def change(connection: Connection, key_id: str, **values: Any) -> None:
    """Change a key that is not revoked."""
    unrevoked = (api_keys.c.id == key_id) & api_keys.c.revoked_at.is_(None)
    connection.execute(update(api_keys).where(unrevoked).values(**values))


def note_uses(connection: Connection, uses: Mapping[str, str]) -> None:
    """Remember when keys were last used, unless another process knows of a later use."""
    for key_id, moment in sorted(uses.items()):
        earlier = api_keys.c.last_used_at.is_(None) | (api_keys.c.last_used_at < moment)
        connection.execute(update(api_keys).where(api_keys.c.id == key_id, earlier).values(last_used_at=moment))


def add_secret(connection: Connection, key_id: str, secret_hash: str, expires_at: str) -> None:
    """A further secret of the key for a while. Those that have expired go."""
    connection.execute(delete(key_secrets).where(key_secrets.c.key_id == key_id, key_secrets.c.expires_at <= now()))
    connection.execute(insert(key_secrets).values(key_id=key_id, secret_hash=secret_hash, expires_at=expires_at))


def secrets(connection: Connection, key_id: str, moment: str) -> list[str]:
    """The hashes of the further secrets that count at `moment`."""
    counting = (key_secrets.c.key_id == key_id) & (key_secrets.c.expires_at > moment)
    return list(connection.execute(select(key_secrets.c.secret_hash).where(counting)).scalars())


def drop_secret(connection: Connection, key_id: str, secret_hash: str) -> None:
    this = (key_secrets.c.key_id == key_id) & (key_secrets.c.secret_hash == secret_hash)
    connection.execute(delete(key_secrets).where(this))


def of_subject(connection: Connection, subject: str) -> str | None:
    """The id of the key of a person who signs on elsewhere."""
    found: str | None = connection.execute(
        select(api_keys.c.id).where(api_keys.c.subject == subject)
    ).scalar_one_or_none()
    return found


def add_ticket(connection: Connection, ticket_hash: str, key_id: str, study: str, expires_at: str) -> None:
    connection.execute(delete(stream_tickets).where(stream_tickets.c.expires_at <= now()))
    row = {"ticket_hash": ticket_hash, "key_id": key_id, "study": study, "expires_at": expires_at}
    connection.execute(insert(stream_tickets).values(**row))


def has_ticket(connection: Connection, ticket_hash: str) -> bool:
    known = select(stream_tickets.c.key_id).where(stream_tickets.c.ticket_hash == ticket_hash)
    return connection.execute(known).first() is not None


def take_ticket(connection: Connection, ticket_hash: str, study: str) -> str | None:
    """The id of the key that got the ticket, which is used up by this; None if it does not count."""
    this = (stream_tickets.c.ticket_hash == ticket_hash) & (stream_tickets.c.study == study)
    valid = this & (stream_tickets.c.expires_at > now())
    taken = connection.execute(delete(stream_tickets).where(valid).returning(stream_tickets.c.key_id))
    found: str | None = taken.scalar_one_or_none()
    return found


def ended(connection: Connection, moment: str) -> frozenset[str]:
    """The keys that were revoked, or expired before `moment`."""
    over = api_keys.c.revoked_at.is_not(None) | (api_keys.c.expires_at <= moment)
    return frozenset(connection.execute(select(api_keys.c.id).where(over)).scalars())


def exist(connection: Connection) -> bool:
    return connection.execute(select(api_keys.c.id).limit(1)).first() is not None


def _key(rows: Sequence[Row[Any]]) -> Key:
    """From a row for each study it is granted, or one without a study."""
    row, granted = rows[0], tuple(row.study for row in rows if row.study is not None)
    ends = {"expires_at": row.expires_at, "revoked_at": row.revoked_at}
    used = {"last_used_at": row.last_used_at, "subject": row.subject}
    return Key(row.id, row.name, Role(row.role), row.created_at, **ends, studies=granted, **used)
