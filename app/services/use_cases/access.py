"""API keys: create, show once, check, revoke."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe
from typing import Any

from sqlalchemy import Connection

from app.domain.access import Actor, Key, LastAdmin, Role
from app.domain.audit import AuditAction
from app.domain.clock import now, stamp
from app.domain.errors import Finding, Invalid, KeyNotFound, Unauthenticated
from app.domain.studies import is_from_here
from app.services.use_cases import studies
from app.storage import audit, keys
from app.storage import studies as study_rows

LATEST = datetime(9999, 1, 1, tzinfo=UTC)  # in another time zone a later moment may have the year 10000
_PLAINTEXT_KEY = re.compile(r"nb_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")

# The actor while there is no key yet: the command line on the server's own machine.
SERVER = Key("server", "the server's own command line", Role.ADMIN, created_at="")
# The actor of what was refused because no key was known.
NOBODY = Key("nobody", "no known key", Role.DASHBOARD, created_at="")


def create_key(
    connection: Connection,
    actor: Actor,
    name: str,
    role: Role,
    granted: tuple[str, ...] = (),
    expires_at: datetime | None = None,
) -> tuple[Key, str]:
    """A new key and its plaintext, which is never shown again: only its SHA-256 is stored."""
    expiry = _expiry(expires_at) if expires_at else None
    key = Key(token_hex(6), name, role, now(), expires_at=expiry, studies=granted)
    secret = token_urlsafe(32)
    keys.add(connection, key, hash_of(secret))
    for study in granted:
        study_rows.grant(connection, key.id, studies.find(connection, actor, study))
    made = {"key": key.id, "name": name, "role": role.value, "studies": list(granted), "expires_at": expiry}
    audit.append(connection, actor, AuditAction.KEY_CREATED, made)
    return key, f"nb_{key.id}_{secret}"


def list_keys(connection: Connection, _actor: Actor) -> tuple[Key, ...]:
    return keys.every(connection)


def names_of_actors(
    connection: Connection, _actor: Actor, recorded: Iterable[tuple[str, str | None]]
) -> dict[str, str]:
    """The names of keys by their ids, for entries that the reader may see, each with the server it was recorded on.

    An id that was recorded on another server says nothing about the keys of this one.
    """
    return keys.names(connection, {key_id for key_id, origin in recorded if is_from_here(origin)})


def revoke_key(connection: Connection, actor: Actor, key_id: str) -> Key:
    """Revoke a key, effective with the next request; revoking it again changes nothing."""
    _find(connection, key_id)
    audit.append(connection, actor, AuditAction.KEY_REVOKED, {"key": key_id})  # from here on, admins take turns
    with _leaving_an_admin(connection):
        keys.revoke(connection, key_id, now())
    return _find(connection, key_id)


def rotate_key(connection: Connection, actor: Actor, key_id: str, overlap_hours: float) -> tuple[Key, str]:
    """A new secret; the one before counts until the overlap ends."""
    until = stamp(datetime.now(UTC) + timedelta(hours=overlap_hours))
    audit.append(connection, actor, AuditAction.KEY_ROTATED, {"key": key_id, "old_secret_until": until})
    stored = keys.find(connection, key_id)
    if stored is None or not is_alive(stored[0]):
        raise KeyNotFound("There is no such key, or it was revoked or has expired.")
    secret = token_urlsafe(32)
    keys.change(connection, key_id, secret_hash=hash_of(secret))
    keys.add_secret(connection, key_id, stored[1], until)
    return stored[0], f"nb_{key_id}_{secret}"


def change_key(connection: Connection, actor: Actor, key_id: str, changes: Mapping[str, Any]) -> Key:
    """Change the name, the role or the expiry of a key that was not revoked."""
    if _find(connection, key_id).revoked_at is not None:
        raise KeyNotFound("The key was revoked.")
    changed = dict(changes)
    if changed.get("expires_at") is not None:
        changed["expires_at"] = _expiry(changed["expires_at"])
    audit.append(connection, actor, AuditAction.KEY_CHANGED, {"key": key_id, **changed})
    with _leaving_an_admin(connection):
        keys.change(connection, key_id, **changed)
    return _find(connection, key_id)


@contextmanager
def _leaving_an_admin(connection: Connection) -> Iterator[None]:
    """Refuse a change after which nobody could manage keys, or only until a date."""
    before = _admins(connection)
    yield
    after = _admins(connection)
    if before and not after:
        raise LastAdmin
    if any(key.expires_at is None for key in before) and all(key.expires_at is not None for key in after):
        raise LastAdmin


def _admins(connection: Connection) -> list[Key]:
    """The living keys of admins; people who sign on elsewhere may lose their role there at any time."""
    living = (key for key in keys.every(connection) if is_alive(key) and key.subject is None)
    return [key for key in living if key.role is Role.ADMIN]


def authenticate(connection: Connection, plaintext_key: str) -> Key:
    """The key behind `plaintext_key`; refused unless it exists and has neither expired nor been revoked."""
    match = _PLAINTEXT_KEY.fullmatch(plaintext_key)
    stored = keys.find(connection, match[1]) if match else None
    if match is None or stored is None or not _is_secret(connection, *stored, hash_of(match[2])):
        raise Unauthenticated
    key = stored[0]
    if not is_alive(key):
        raise Unauthenticated
    return key


def key_id_in(plaintext_key: str) -> str | None:
    """The id that a key claims to have, without its secret; None if the text is no key."""
    match = _PLAINTEXT_KEY.fullmatch(plaintext_key)
    return match[1] if match else None


def _is_secret(connection: Connection, key: Key, stored_hash: str, given_hash: str) -> bool:
    """Whether this is the hash of the key's secret, or of one that counts beside it for a while."""
    if compare_digest(stored_hash, given_hash):
        return True
    return any(compare_digest(further, given_hash) for further in keys.secrets(connection, key.id, now()))


def end_session(connection: Connection, actor: Actor, plaintext_key: str) -> Key:
    """Forget the secret that a browser got by signing on elsewhere; a key that people were given stays as it is."""
    match = _PLAINTEXT_KEY.fullmatch(plaintext_key)
    if match is not None and actor.key.subject is not None:
        keys.drop_secret(connection, actor.key.id, hash_of(match[2]))
    return actor.key


def must_be_alive(connection: Connection, actor: Actor) -> None:
    """Refuse an actor whose key has expired or been revoked since the request began."""
    if not keys.is_alive(connection, actor.key.id, now()):
        raise Unauthenticated


def is_alive(key: Key) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > now())


def _find(connection: Connection, key_id: str) -> Key:
    stored = keys.find(connection, key_id)
    if stored is None:
        raise KeyNotFound
    return stored[0]


def _expiry(moment: datetime) -> str:
    if not datetime.now(UTC) < moment < LATEST:
        message = "Choose a moment in the future and before the year 9999."
        raise Invalid([Finding("expired", message, pointer="/expires_at")])
    return stamp(moment)


def hash_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
