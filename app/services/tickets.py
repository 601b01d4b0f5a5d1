"""Tickets for event streams: a browser's EventSource can send no key, and a key must not be in an address.

A ticket is good for one stream of one study, once, within a minute. It carries what its key may, and no more: the
stream asks again and again whether the key still stands.
"""

from datetime import UTC, datetime, timedelta
from secrets import token_urlsafe

from sqlalchemy import Connection

from app.domain.access import Actor, Key
from app.domain.clock import stamp
from app.domain.errors import Unauthenticated
from app.services.use_cases import studies
from app.services.use_cases.access import hash_of, is_alive
from app.storage import keys
from app.storage.database import Database

SECONDS = 60


def issue(connection: Connection, actor: Actor, name: str) -> tuple[str, str]:
    """A new ticket for a study that the key may see, and when it expires."""
    study = studies.find(connection, actor, name)
    ticket, expires_at = token_urlsafe(32), stamp(datetime.now(UTC) + timedelta(seconds=SECONDS))
    keys.add_ticket(connection, hash_of(ticket), actor.key.id, study.name, expires_at)
    return ticket, expires_at


def redeem(database: Database, study: str, ticket: str) -> Key:
    """The key behind a ticket, which is used up by this, whatever comes of it.

    Anyone can send a ticket, so one that does not exist must not wait for its turn to write, nor make others wait.
    """
    ticket_hash = hash_of(ticket)
    with database.read() as connection:
        if not keys.has_ticket(connection, ticket_hash):
            raise Unauthenticated
    with database.write() as connection:
        key_id = keys.take_ticket(connection, ticket_hash, study)
        stored = keys.find(connection, key_id) if key_id else None
    if stored is None or not is_alive(stored[0]):
        raise Unauthenticated
    return stored[0]
