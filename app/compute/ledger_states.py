"""The states of ledgers after their prefixes, cached: a longer prefix continues where a shorter one ended."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from sqlalchemy import Connection

from app.modelling.ledger_state import LedgerState, fold
from app.storage import ledger
from app.storage.database import Database

MOST_STATES = 256
MOST_BYTES = 64 * 2**20


@dataclass(frozen=True)
class LedgerPrefix:
    """The ledger of a study up to the entry `seq`, whose hash is `head`: everything a computation depends on."""

    study_id: int
    seq: int
    head: str


class LedgerStates:
    """The newest state of each study that was asked for, and any earlier one on demand."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._newest: OrderedDict[int, LedgerState] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()  # guards the book-keeping

    def read(self, connection: Connection, study_id: int, seq: int) -> LedgerState:
        """What the ledger says up to `seq`."""
        known = self._cached(study_id)
        state = None
        if known is not None and 0 < known.seq <= seq:
            state = _continued(known, connection, study_id, seq)
        if state is None:
            state = fold(LedgerState(), ledger.read(connection, study_id, until=seq))
        self._keep(study_id, state)
        return state

    def at(self, prefix: LedgerPrefix) -> LedgerState:
        """The state after a prefix; opens a transaction unless it is cached."""
        known = self._cached(prefix.study_id)
        if known is not None and known.head == prefix.head:
            return known
        with self._database.read() as connection:
            return self.read(connection, prefix.study_id, prefix.seq)

    def clear(self) -> None:
        with self._lock:
            self._newest.clear()
            self._bytes = 0

    def _cached(self, study_id: int) -> LedgerState | None:
        with self._lock:
            return self._newest.get(study_id)

    def _keep(self, study_id: int, state: LedgerState) -> None:
        with self._lock:
            known = self._newest.get(study_id)
            if known is not None and known.seq > state.seq:
                return  # an earlier moment was asked for
            self._newest[study_id] = state
            self._newest.move_to_end(study_id)
            self._bytes += state.nbytes - (known.nbytes if known is not None else 0)
            while len(self._newest) > 1 and (len(self._newest) > MOST_STATES or self._bytes > MOST_BYTES):
                self._bytes -= self._newest.popitem(last=False)[1].nbytes


def _continued(known: LedgerState, connection: Connection, study_id: int, seq: int) -> LedgerState | None:
    """A known state with the entries up to `seq`; None if the ledger does not contain the entry it ends with."""
    entries = ledger.read(connection, study_id, known.seq - 1, until=seq)
    last_known = next(entries, None)
    if last_known is None or last_known.hash != known.head:
        return None
    return fold(known, entries)
