"""People who sign on elsewhere: each is a key of this server, whose role follows from the groups that they are in."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from secrets import token_hex, token_urlsafe
from typing import Any

from sqlalchemy import Connection

from app.domain.access import Actor, Key, Role
from app.domain.audit import AuditAction
from app.domain.clock import now, stamp
from app.domain.errors import Denied
from app.services.use_cases.access import hash_of, is_alive
from app.storage import audit, keys

RANKS = (Role.ADMIN, Role.SCIENTIST, Role.CLIENT, Role.TECHNICIAN, Role.DASHBOARD)  # of several roles, the first counts
NAME_LENGTH = 100


def role_of(claims: Mapping[str, Any], claim: str, roles: Mapping[str, Role]) -> Role:
    """The role that a person's groups give; refused if none of them gives one."""
    groups = claims.get(claim, ())
    groups = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
    given = {roles[group] for group in groups if isinstance(group, str) and group in roles}
    for role in RANKS:
        if role in given:
            return role
    raise Denied("You are signed on, but none of your groups has a role here. Ask the operator of this server.")


def name_of(claims: Mapping[str, Any]) -> str:
    """What people call the person: the first of these that the provider tells."""
    told = (claims.get(name) for name in ("email", "preferred_username", "name", "sub"))
    name = next(str(text) for text in told if text)
    return "".join(letter for letter in name if letter.isprintable())[:NAME_LENGTH] or "somebody"


def sign_on(connection: Connection, actor: Actor, subject: str, name: str, role: Role, hours: float) -> str:
    """A secret for one browser, of the person's key, which is made at the first sign-on."""
    key = _key_of(connection, actor, subject, name, role)
    if not is_alive(key):
        raise Denied("Your key on this server was revoked. Ask its operator.")
    if (key.name, key.role) != (name, role):
        keys.change(connection, key.id, name=name, role=role.value)
        audit.append(connection, actor, AuditAction.KEY_CHANGED, {"key": key.id, "name": name, "role": role.value})
    secret = token_urlsafe(32)
    keys.add_secret(connection, key.id, hash_of(secret), stamp(datetime.now(UTC) + timedelta(hours=hours)))
    signed = Actor(key, actor.request_id, actor.address)
    audit.append(connection, signed, AuditAction.SIGNED_IN, {"single_sign_on": True, "role": role.value})
    return f"nb_{key.id}_{secret}"


def _key_of(connection: Connection, actor: Actor, subject: str, name: str, role: Role) -> Key:
    key_id = keys.of_subject(connection, subject)
    stored = keys.find(connection, key_id) if key_id else None
    if stored is not None:
        return stored[0]
    key = Key(token_hex(6), name, role, now(), subject=subject)
    keys.add(connection, key, hash_of(token_urlsafe(32)))  # a secret that nobody knows
    made: dict[str, Any] = {"key": key.id, "name": name, "role": role.value, "single_sign_on": True}
    audit.append(connection, actor, AuditAction.KEY_CREATED, made)
    return key


def read_roles(entries: Iterable[str]) -> dict[str, Role]:
    """`group=role` as the operator writes it."""
    pairs = (entry.rpartition("=") for entry in entries)
    return {group.strip(): Role(role.strip()) for group, _, role in pairs}
