"""API keys: create, show once, check, revoke."""

import re
from datetime import UTC, datetime
from hashlib import sha256
from hmac import compare_digest
from secrets import token_hex, token_urlsafe

from sqlalchemy import Connection

from app.domain.access import Actor, Key, Role
from app.domain.audit import AuditAction
from app.domain.clock import now, stamp
from app.domain.errors import Finding, Invalid, KeyNotFound, Unauthenticated
from app.services.use_cases import studies
from app.storage import audit, keys
from app.storage import studies as study_rows

LATEST = datetime(9999, 1, 1, tzinfo=UTC)  # in another time zone a later moment may have the year 10000
_PLAINTEXT_KEY = re.compile(r"nb_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")

# The actor while there is no key yet: the command line on the server's own machine.
SERVER = Key("server", "the server's own command line", Role.ADMIN, created_at="")


def create_key(
    connection: Connection,
    actor: Actor,
    name: str,
    role: Role,
    granted: tuple[str, ...] = (),
    expires_at: datetime | None = None,
) -> tuple[Key, str]:
    """A new key and its plaintext, which is never shown again: only its SHA-256 is stored."""
    if expires_at is not None and not datetime.now(UTC) < expires_at < LATEST:
        raise Invalid(
            [Finding("expired", "Choose a moment in the future and before the year 9999.", pointer="/expires_at")]
        )
    expiry = stamp(expires_at) if expires_at else None
    key = Key(token_hex(6), name, role, now(), expires_at=expiry, studies=granted)
    secret = token_urlsafe(32)
    keys.add(connection, key, _hash(secret))
    for study in granted:
        study_rows.grant(connection, key.id, studies.find(connection, actor, study))
    made = {"key": key.id, "name": name, "role": role.value, "studies": list(granted), "expires_at": expiry}
    audit.append(connection, actor, AuditAction.KEY_CREATED, made)
    return key, f"nb_{key.id}_{secret}"


def list_keys(connection: Connection, _actor: Actor) -> tuple[Key, ...]:
    return keys.every(connection)


def revoke_key(connection: Connection, actor: Actor, key_id: str) -> Key:
    """Revoke a key, effective with the next request; revoking it again changes nothing."""
    keys.revoke(connection, key_id, now())
    stored = keys.find(connection, key_id)
    if stored is None:
        raise KeyNotFound
    audit.append(connection, actor, AuditAction.KEY_REVOKED, {"key": key_id})
    return stored[0]


def authenticate(connection: Connection, plaintext_key: str) -> Key:
    """The key behind `plaintext_key`; refused unless it exists and has neither expired nor been revoked."""
    match = _PLAINTEXT_KEY.fullmatch(plaintext_key)
    stored = keys.find(connection, match[1]) if match else None
    if match is None or stored is None or not compare_digest(stored[1], _hash(match[2])):
        raise Unauthenticated
    key = stored[0]
    if not _is_alive(key):
        raise Unauthenticated
    return key


def must_be_alive(connection: Connection, actor: Actor) -> None:
    """Refuse an actor whose key has expired or been revoked since the request began."""
    if not keys.is_alive(connection, actor.key.id, now()):
        raise Unauthenticated


def _is_alive(key: Key) -> bool:
    return key.revoked_at is None and (key.expires_at is None or key.expires_at > now())


def _hash(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
