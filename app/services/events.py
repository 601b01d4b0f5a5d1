"""The ledger as it is read."""

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.ledger import Event
from app.services import studies
from app.storage import ledger


def list_events(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[Event]:
    return list(ledger.read(connection, studies.find(connection, actor, name), after, limit))
