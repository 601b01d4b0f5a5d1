"""When keys were last used: collected in memory and written now and then, so that no request pays for it."""

from datetime import datetime
from threading import Lock

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.clock import read_clock, stamp
from app.services.transactions import ReadTransactions
from app.services.use_cases.access import SERVER
from app.storage import keys
from app.storage.database import Database

SECONDS = 60.0  # between writes


class KeyUses:
    """The keys that this process admitted since it last wrote them down."""

    def __init__(self, database: Database) -> None:
        self._tx = ReadTransactions(database, Actor(SERVER, "key-uses"))
        self._uses: dict[str, datetime] = {}
        self._lock = Lock()

    def note(self, key_id: str) -> None:
        with self._lock:
            self._uses[key_id] = read_clock()

    def write(self) -> None:
        """Write the uses down. If that fails, they are forgotten: the next use says more."""
        with self._lock:
            uses, self._uses = self._uses, {}
        if uses:
            self._tx.record(_note, {key_id: stamp(moment) for key_id, moment in uses.items()})


def _note(connection: Connection, _actor: Actor, uses: dict[str, str]) -> None:
    keys.note_uses(connection, uses)
