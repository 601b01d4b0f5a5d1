"""The models of studies: cached in memory, else loaded from a snapshot, else computed from the ledger."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import partial
from threading import Lock
from time import thread_time

from app.compute import snapshots
from app.compute.ledger_states import LedgerPrefix, LedgerStates
from app.domain.candidates import CandidateBlock
from app.domain.errors import NoCandidates
from app.domain.events import Basis, ForkStarted
from app.modelling.ledger_state import LedgerState, fold
from app.modelling.model import Model, RawFeatures
from app.modelling.outline import has_outline, save_outline
from app.modelling.saved_model import SavedModel
from app.modelling.saved_study import save_study_model
from app.modelling.study_model import StudyModel, advance_study
from app.storage import ledger
from app.storage.array_cache import ArrayCache
from app.storage.blobs import DamagedBlob
from app.storage.database import Database

WORTH_SAVING = 0.5  # seconds of computing; saving a small model takes 0.05, longer than computing it again
SMALL_SNAPSHOT = 4 * 2**20
"""A larger model is saved in outline if it can: one start over the list brings it back, and nothing large is written.
If it cannot, it is saved the more seldom the larger it is, so that saving takes a small share of computing."""
LARGEST_SNAPSHOT = 256 * 2**20
"""A model above this size that has no outline is not saved: handing it over takes its memory again."""


class Models:
    """Models by the hash of the last entry they know. It names the whole prefix, so a cached model is never stale."""

    def __init__(
        self,
        database: Database,
        arrays: ArrayCache,
        states: LedgerStates,
        most_bytes: int,
        forget: Callable[[int, str], None] | None = None,
    ) -> None:
        """`forget` is told of damaged snapshots, by study and head; by default they are dropped."""
        self._database = database
        self._forget = forget or partial(snapshots.forget, database)
        self._arrays = arrays
        self._states = states
        self._most_bytes = most_bytes
        self._bytes = 0
        self._models: OrderedDict[str, StudyModel] = OrderedDict()
        self._lock = Lock()  # guards the book-keeping
        self._turns: defaultdict[int, Lock] = defaultdict(Lock)  # saves work; nothing depends on it
        self._unsaved: defaultdict[int, float] = defaultdict(float)  # study → seconds of computing since the last save

    def at(self, prefix: LedgerPrefix) -> StudyModel:
        """The model after a prefix of a ledger."""
        model = self._cached(prefix.head)
        if model is None:
            with self._turn(prefix.study_id):
                model = self._cached(prefix.head) or self._compute(prefix)
        return model

    @property
    def nbytes(self) -> int:
        return self._bytes

    def __len__(self) -> int:
        return len(self._models)

    def is_worth_saving(self, study_id: int) -> bool:
        """Whether a fresh process would take long to compute what this one has computed since the last save."""
        return self._unsaved.get(study_id, 0.0) >= WORTH_SAVING

    def save(self, prefix: LedgerPrefix) -> None:
        """Save the model after a prefix for the next process."""
        saved = self.saved(prefix)
        if saved is not None:
            snapshots.save(self._database, prefix, saved)
        self.count_as_saved(prefix.study_id)

    def saved(self, prefix: LedgerPrefix) -> SavedModel | None:
        """The model after a prefix as a snapshot holds it, in outline if it is not small; None if no snapshot can."""
        model = self.at(prefix)
        if model.nbytes > SMALL_SNAPSHOT and has_outline(model):
            return save_outline(model)
        return save_study_model(model) if model.nbytes <= LARGEST_SNAPSHOT else None

    def count_as_saved(self, study_id: int) -> None:
        """What was computed for this study so far is saved, or being saved."""
        self._unsaved.pop(study_id, None)

    def clear(self) -> None:
        """Drop every model from memory."""
        with self._lock:
            self._models.clear()
            self._bytes = 0

    def _turn(self, study_id: int) -> Lock:
        """One computation at a time for each study: the others then find the model in the cache."""
        with self._lock:
            return self._turns[study_id]

    def _compute(self, prefix: LedgerPrefix) -> StudyModel:
        state = self._states.at(prefix)
        if not state.blocks:
            raise NoCandidates
        started = thread_time()
        model = advance_study(self._base(prefix.study_id, state), state, self._load_features)
        nbytes = self._keep(model)
        cost = 1.0 if has_outline(model) else max(1.0, nbytes / SMALL_SNAPSHOT)
        self._unsaved[prefix.study_id] += (thread_time() - started) / cost
        return model

    def _base(self, study_id: int, state: LedgerState) -> StudyModel | None:
        """The model that the last batch was computed with, from the nearest earlier one that still exists."""
        model, missing = self._nearest(study_id, state.bases)
        if not missing:
            return model
        before = model.ledger if model is not None else LedgerState()
        with self._database.read() as connection:
            entries = list(ledger.read(connection, study_id, before.seq, until=missing[-1].seq))
            if any(entry.type == ForkStarted.type for entry in entries):  # a fork may need what the model left out
                before = LedgerState()
                entries = list(ledger.read(connection, study_id, until=missing[-1].seq))
        try:
            for basis in missing:
                before = fold(before, [entry for entry in entries if before.seq < entry.seq <= basis.seq])
                model = advance_study(model, before, self._load_features)
        finally:  # a computation that ran out of time is continued from here by the next one
            if model is not None:
                self._keep(model)
        return model

    def _nearest(self, study_id: int, bases: tuple[Basis, ...]) -> tuple[StudyModel | None, tuple[Basis, ...]]:
        """The model of the newest basis that still exists, and the bases after it."""
        for position in reversed(range(len(bases))):
            model: StudyModel | None = self._cached(bases[position].hash) or self._load(study_id, bases[position].hash)
            if model is not None:
                return model, bases[position + 1 :]
        return None, bases

    def _load(self, study_id: int, head: str) -> StudyModel | None:
        """The model of a snapshot; a damaged snapshot is dropped."""
        try:
            with self._database.read() as connection:
                saved = snapshots.load(connection, study_id, head, self._arrays)
        except DamagedBlob:
            self._forget(study_id, head)
            return None
        model = None if saved is None else snapshots.restore(saved, self._load_features)
        if model is not None:
            self._keep(model)
        return model

    def _load_features(self, block: CandidateBlock) -> RawFeatures:
        arrays = block.arrays
        with self._database.read() as connection:
            numbers, codes = (self._arrays.load(connection, digest) for digest in (arrays.numbers, arrays.codes))
            named = arrays.fingerprints.items()
            return numbers, codes, {name: self._arrays.load(connection, digest) for name, digest in named}

    def _cached(self, head: str) -> StudyModel | None:
        with self._lock:
            model = self._models.get(head)
            if model is not None:
                self._models.move_to_end(head)
            return model

    def _keep(self, model: StudyModel) -> int:
        """Keep it in memory, unless it is only an outline; its size in bytes."""
        nbytes = model.nbytes
        if isinstance(model, Model) and model.is_outline:
            return nbytes
        with self._lock:
            before = self._models.pop(model.ledger.head, None)
            self._models[model.ledger.head] = model
            self._bytes += nbytes - (before.nbytes if before else 0)
            while len(self._models) > 1 and self._bytes > self._most_bytes:
                self._bytes -= self._models.popitem(last=False)[1].nbytes
        return nbytes
