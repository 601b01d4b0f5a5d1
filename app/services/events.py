"""The ledger as it is read."""

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.ledger import Event
from app.services import studies
from app.services.access import must_be_alive
from app.storage import ledger


def list_events(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[Event]:
    return list(ledger.read(connection, studies.find(connection, actor, name), after, limit))


def follow(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[Event]:
    """As `list_events`, for a reader who signed in a while ago: the key may have been revoked since."""
    must_be_alive(connection, actor)
    return list_events(connection, actor, name, after, limit)
