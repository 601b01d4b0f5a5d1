"""Models of studies: found in memory, else in the database, else computed from the ledger."""

from collections import OrderedDict, defaultdict
from threading import Lock
from time import thread_time

from sqlalchemy import Connection

from app.domain.errors import NoCandidates
from app.domain.ledger import Event
from app.domain.studies import Study
from app.services.arrays import ArrayCache
from app.services.bridge import snapshots
from app.services.bridge.model import Array, Model, advance
from app.services.tally import Tally, after
from app.storage import ledger
from app.storage.blobs import DamagedBlob
from app.storage.candidates import Block
from app.storage.database import Database

WORTH_KEEPING = 0.5  # seconds of computing; to keep a small model takes 0.05, more than to compute it again


class Models:
    """Computed with no transaction open; a cached model is right because the hash of an event names all before it."""

    def __init__(self, database: Database, arrays: ArrayCache, most_bytes: int) -> None:
        self._database = database
        self._arrays = arrays
        self._most_bytes = most_bytes
        self._models: OrderedDict[str, Model] = OrderedDict()
        self._bytes = 0  # of all of them
        self._tallies: OrderedDict[int, Tally] = OrderedDict()
        self._lock = Lock()  # guards the book-keeping alone
        self._turns: defaultdict[int, Lock] = defaultdict(Lock)  # saves work, decides nothing
        self._unkept: defaultdict[int, float] = defaultdict(float)  # seconds of computing since one was kept

    def tally(self, connection: Connection, study: Study, seq: int | None = None) -> Tally:
        """What the ledger says up to `seq`, by default up to its head."""
        wanted = study.seq if seq is None else seq
        known = self._known_tally(study, wanted)
        tally = _continued(known, list(ledger.read(connection, study, known.seq - 1, until=wanted))) if known else None
        if tally is None:
            tally = after(Tally(), ledger.read(connection, study, until=wanted))
        if wanted == study.seq:
            with self._lock:
                self._tallies[study.id] = tally
                self._tallies.move_to_end(study.id)
                while len(self._tallies) > 256:
                    self._tallies.popitem(last=False)
        return tally

    def at(self, study: Study, tally: Tally) -> Model:
        """The model of a tally."""
        if not tally.blocks:
            raise NoCandidates
        model = self._cached(tally.head)
        if model is None:
            with self._turn(study):
                model = self._cached(tally.head) or self._computed(study, tally)
        return model

    def are_worth_keeping(self, study: Study) -> bool:
        """Whether a fresh process would compute for long what this one has computed since it last kept a model."""
        return self._unkept.get(study.id, 0.0) >= WORTH_KEEPING

    def save(self, study: Study, model: Model) -> None:
        snapshots.save(self._database, study, model)
        self._unkept.pop(study.id, None)

    def forget(self) -> None:
        """Drop every model and tally from memory."""
        with self._lock:
            self._models.clear()
            self._bytes = 0
            self._tallies.clear()

    def _turn(self, study: Study) -> Lock:
        """One at a time for each study: the others find what the first has computed."""
        with self._lock:
            return self._turns[study.id]

    def _computed(self, study: Study, tally: Tally) -> Model:
        started = thread_time()
        model = advance(self._base(study, tally), tally, self._load)
        self._keep(model)
        self._unkept[study.id] += thread_time() - started
        return model

    def _base(self, study: Study, tally: Tally) -> Model | None:
        """The model the last batch was computed with, from the nearest earlier one that is still known."""
        model, bases = None, list(tally.issued)
        while bases and model is None:
            model = self._recall(study, bases.pop().basis_hash)
        missing = tally.issued[len(bases) + (model is not None) :]
        if not missing:
            return model
        before = model.tally if model else Tally()
        events = self._events(study, before.seq, missing[-1].basis_seq)
        for issued in missing:
            part = [event for event in events if before.seq < event.seq <= issued.basis_seq]
            before = after(before, part)
            model = advance(model, before, self._load)
        if model is not None:
            self._keep(model)
        return model

    def _recall(self, study: Study, head: str) -> Model | None:
        model = self._cached(head)
        if model is None:
            model = self._kept(study, head)
            if model is not None:
                self._keep(model)
        return model

    def _kept(self, study: Study, head: str) -> Model | None:
        try:
            with self._database.read() as connection:
                return snapshots.load(connection, study, head, self._arrays)
        except DamagedBlob:
            snapshots.forget(self._database, study, head)
            return None

    def _events(self, study: Study, seq: int, until: int) -> list[Event]:
        with self._database.read() as connection:
            return list(ledger.read(connection, study, seq, until=until))

    def _load(self, block: Block) -> tuple[Array, Array]:
        with self._database.read() as connection:
            return tuple(self._arrays.load(connection, block.arrays[part]) for part in ("numbers", "codes"))  # type: ignore[return-value]

    def _known_tally(self, study: Study, seq: int) -> Tally | None:
        with self._lock:
            known = self._tallies.get(study.id)
        return known if known is not None and 0 < known.seq <= seq else None

    def _cached(self, head: str) -> Model | None:
        with self._lock:
            model = self._models.get(head)
            if model is not None:
                self._models.move_to_end(head)
            return model

    def _keep(self, model: Model) -> None:
        with self._lock:
            before = self._models.pop(model.tally.head, None)
            self._models[model.tally.head] = model
            self._bytes += model.nbytes - (before.nbytes if before else 0)
            while len(self._models) > 1 and self._bytes > self._most_bytes:
                self._bytes -= self._models.popitem(last=False)[1].nbytes


def _continued(known: Tally, events: list[Event]) -> Tally | None:
    """The tally with more events, the first of which it must end with; None if it does not."""
    return after(known, events[1:]) if events and events[0].hash == known.head else None
