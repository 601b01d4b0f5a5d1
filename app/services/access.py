"""API keys: made, shown once, checked, revoked."""

import re
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe

from sqlalchemy import Connection

from app.domain.access import Actor, Key, Role
from app.domain.clock import now, stamp
from app.domain.errors import Invalid, KeyNotFound, Unauthenticated
from app.domain.findings import Finding
from app.services import studies
from app.storage import keys
from app.storage import studies as study_rows

LATEST = datetime(9999, 1, 1, tzinfo=UTC)  # later ones leave the calendar when their time zone changes
_SPELLING = re.compile(r"nb_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")

# Who acts when nobody has a key yet: the command line on the server's own machine.
SERVER = Key("server", "the server's own command line", Role.ADMIN, created_at="")


def create_key(
    connection: Connection,
    actor: Actor,
    name: str,
    role: Role,
    granted: tuple[str, ...] = (),
    expires_at: datetime | None = None,
) -> tuple[Key, str]:
    """A new key and its spelling, which is never seen again: only its SHA-256 is kept."""
    if expires_at is not None and not datetime.now(UTC) < expires_at < LATEST:
        raise Invalid([Finding("expired", "Must lie in the future, before the year 9999.", pointer="/expires_at")])
    expiry = stamp(expires_at) if expires_at else None
    key = Key(token_hex(6), name, role, now(), expires_at=expiry, studies=granted)
    secret = token_urlsafe(32)
    keys.add(connection, key, _hash(secret))
    for study in granted:
        study_rows.grant(connection, key.id, studies.find(connection, actor, study))
    return key, f"nb_{key.id}_{secret}"


def list_keys(connection: Connection, _actor: Actor) -> tuple[Key, ...]:
    return keys.every(connection)


def revoke_key(connection: Connection, _actor: Actor, key_id: str) -> Key:
    """Effective with the next request; revoking again changes nothing."""
    keys.revoke(connection, key_id, now())
    found = keys.find(connection, key_id)
    if found is None:
        raise KeyNotFound
    return found[0]


def authenticate(connection: Connection, spelling: str) -> Key:
    """The key that `spelling` is, if it is one, lives and was not revoked."""
    match = _SPELLING.fullmatch(spelling)
    found = keys.find(connection, match[1]) if match else None
    if match is None or found is None or not compare_digest(found[1], _hash(match[2])):
        raise Unauthenticated
    key = found[0]
    if not _is_alive(key):
        raise Unauthenticated
    return key


def must_be_alive(connection: Connection, actor: Actor) -> None:
    """Whether the key of somebody who signed in before would still let them in."""
    found = keys.find(connection, actor.key.id)
    if found is None or not _is_alive(found[0]):
        raise Unauthenticated


def _is_alive(key: Key) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > now())


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
