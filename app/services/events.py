"""The ledger as it is read."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.clock import now
from app.domain.ledger import Event
from app.services import studies
from app.services.access import must_be_alive
from app.storage import keys, ledger
from app.storage import studies as study_rows


def list_events(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[Event]:
    return list(ledger.read(connection, studies.find(connection, actor, name), after, limit))


def follow(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[Event]:
    """As `list_events`, for a reader who signed in a while ago: the key may have been revoked since."""
    must_be_alive(connection, actor)
    return list_events(connection, actor, name, after, limit)


@dataclass(frozen=True)
class News:
    """How far the ledgers of some studies reach, and whose keys have ended."""

    seqs: Mapping[str, int]
    ended: Collection[str]

    def concern(self, actor: Actor, study: str, seen: int) -> bool:
        """Whether a reader who has `seen` so much should look; also if the study was not looked at."""
        return self.seqs.get(study) != seen or actor.key.id in self.ended


def news(connection: Connection, _actor: Actor, watched: Collection[str]) -> News:
    return News(study_rows.seqs(connection, watched), keys.ended(connection, now()))
