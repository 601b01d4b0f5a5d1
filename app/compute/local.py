"""Computing in this process: each kind of work is one call with plain data in and plain data out, on a few threads."""

import math
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, Literal, ParamSpec, Protocol, TypeVar

from threadpoolctl import threadpool_limits

from app.compute.ledger_states import LedgerPrefix
from app.compute.models import Models
from app.domain.batches import BatchSize, Draft
from app.domain.diagnoses import Diagnoses
from app.domain.predictions import Front, Insight, VolumePoint
from app.fair_threads import FairThreads, Job
from app.modelling.diagnosing import diagnose
from app.modelling.front_reading import front_of, hypervolumes_of, insight_of, predictions_of
from app.modelling.model import Model, within
from app.modelling.outlook import outlook_of
from app.modelling.predicting import Predictions, Predictor
from app.modelling.saved_model import SavedModel
from app.modelling.several_drafting import draft_batch
from app.modelling.spreading import Spread
from app.modelling.terms import NO_TERMS, Terms

P = ParamSpec("P")
T = TypeVar("T")


ComputeKind = Literal["here", "processes", "ray"]


@dataclass(frozen=True)
class ComputeStatus:
    """The compute workers of a server process; 0 if it computes itself."""

    kind: ComputeKind = "here"
    workers: int = 0
    ready: int = 0
    running: int = 0  # computations that were begun or wait for a worker
    deaths: int = 0  # of workers, each of which was replaced
    nodes: int = 1  # of a cluster, or one machine, that have workers which are ready


class Compute(Protocol):
    """What can be computed: by this process (`LocalCompute`) or by its workers (`WorkerCompute`)."""

    def compute_batch(self, basis: LedgerPrefix, size: BatchSize, terms: Terms = NO_TERMS) -> Draft: ...
    def predictions(self, prefix: LedgerPrefix) -> Predictions: ...
    def front(self, prefix: LedgerPrefix) -> Front: ...
    def hypervolumes(self, prefix: LedgerPrefix) -> tuple[VolumePoint, ...]: ...
    def insight(self, prefix: LedgerPrefix) -> Insight: ...
    def diagnoses(self, prefix: LedgerPrefix, quantity: str = "") -> Diagnoses: ...

    def is_worth_saving(self, study_id: int) -> bool:
        """Whether a fresh process would take long to compute what was computed for this study."""

    def save(self, prefix: LedgerPrefix) -> None:
        """Save the model after a prefix for the next process."""

    def status(self) -> ComputeStatus: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class LocalCompute:
    """Computes with the models of this process. The caller must not hold a transaction open meanwhile.

    A computation that takes longer than `seconds` is refused with `ComputationTooLong`.
    """

    models: Models
    seconds: float
    sweep_threads: int = 1  # for a list in shards; what is computed does not depend on it
    spread: Spread | None = None  # who holds the shards of a long list; what is computed does not depend on it either

    def compute_batch(self, basis: LedgerPrefix, size: BatchSize, terms: Terms = NO_TERMS) -> Draft:
        """The next batch of a study, from everything that its ledger says up to `basis`."""
        with self._within():
            return draft_batch(self.models.at(basis), size, terms)

    def predictions(self, prefix: LedgerPrefix) -> Predictions:
        """What the model says of every candidate."""
        with self._within():
            return predictions_of(self.models.at(prefix))

    def front(self, prefix: LedgerPrefix) -> Front:
        """The front of the study's objectives, measured and expected."""
        with self._within():
            return front_of(self.models.at(prefix))

    def hypervolumes(self, prefix: LedgerPrefix) -> tuple[VolumePoint, ...]:
        """How the measured front grew."""
        with self._within():
            return hypervolumes_of(self.models.at(prefix).ledger)

    def insight(self, prefix: LedgerPrefix) -> Insight:
        """The certificate, the candidate that the model expects to be best, and what is left to gain; or the front."""
        with self._within():
            model = self.models.at(prefix)
            insight = insight_of(model)
            if insight.certificate is None or not isinstance(model, Model):
                return insight
            return replace(insight, outlook=outlook_of(model, insight.certificate.recommended))

    def diagnoses(self, prefix: LedgerPrefix, quantity: str = "") -> Diagnoses:
        """Whether to trust the model of a quantity, by default the first, and what it has learnt."""
        with self._within():
            found = self.models.at(prefix)
            model = found if isinstance(found, Model) else found.quantities.get(quantity, found.first)
            certificate = Predictor(model).certificate()
            return Diagnoses() if certificate is None else diagnose(model, certificate.recommended)

    def saved_model(self, prefix: LedgerPrefix) -> SavedModel | None:
        """The model as a snapshot holds it, for whoever may write; it then counts as saved. None if none can."""
        saved = self.models.saved(prefix)
        self.models.count_as_saved(prefix.study_id)
        return saved

    def _within(self) -> AbstractContextManager[None]:
        return within(self.seconds, self.sweep_threads, self.spread)

    def is_worth_saving(self, study_id: int) -> bool:
        return self.models.is_worth_saving(study_id)

    def save(self, prefix: LedgerPrefix) -> None:
        self.models.save(prefix)

    def status(self) -> ComputeStatus:
        return ComputeStatus()

    def close(self) -> None:
        """Nothing: the threads belong to those who call."""


def prepare_algebra() -> None:
    """Load SciPy's linear algebra, which a process that only serves never does, with one BLAS thread.

    SciPy brings a BLAS of its own. `threadpool_limits` reaches only what is loaded, and the engine loads SciPy's parts
    when it first calls them.
    """
    import scipy.linalg  # noqa: PLC0415
    import scipy.special  # noqa: F401, PLC0415

    threadpool_limits(1)  # one BLAS thread per computation: more of them slow each other down


class Jobs:
    """Runs each job once, however many wait for it. A job that is lost in a crash costs only time."""

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._threads = FairThreads(threads, most_waiting, math.inf, "compute")
        self._running: dict[Hashable, Job[Any]] = {}
        self._lock = Lock()

    def start(self, owner: str, key: Hashable, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Job[T]:
        """The job under `key`: the one that runs already, or a new one that calls `work` with these arguments."""
        with self._lock:
            running = self._running.get(key)
            if running is not None and not running.future.done() and running.demand.join():
                return running
            job = self._threads.start(owner, partial(work, *args, **kwargs))
            self._running[key] = job
        job.future.add_done_callback(lambda _: self._forget(key, job))
        return job

    @property
    def line(self) -> int:
        """How many jobs run or wait."""
        return self._threads.line

    def close(self) -> None:
        """Finish the jobs that run and accept no more."""
        self._threads.close()

    def _forget(self, key: Hashable, job: Job[Any]) -> None:
        with self._lock:
            if self._running.get(key) is job:
                del self._running[key]
