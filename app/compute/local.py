"""Computing in this process: each kind of work is one call with plain data in and plain data out, on a few threads."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, Protocol, TypeVar

from app.compute.ledger_states import LedgerPrefix
from app.compute.models import Models
from app.domain.batches import BatchSize, Draft
from app.domain.diagnoses import Diagnoses
from app.domain.predictions import Front, Insight, VolumePoint
from app.fair_threads import FairThreads, Job
from app.modelling.composing import NO_TERMS, Terms
from app.modelling.diagnosing import diagnose
from app.modelling.front_reading import front_of, hypervolumes_of, insight_of, predictions_of
from app.modelling.model import Model, within
from app.modelling.outlook import outlook_of
from app.modelling.predicting import Predictions, Predictor
from app.modelling.saved_model import SavedModel
from app.modelling.several_drafting import draft_batch

LARGEST_SNAPSHOT = 256 * 2**20
"""A larger model is not handed over to be saved: that takes its memory again, and gains little for a long list."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class ComputeStatus:
    """The compute workers of a server process; 0 if it computes itself."""

    workers: int = 0
    ready: int = 0
    running: int = 0  # computations that were begun or wait for a worker
    deaths: int = 0  # of workers, each of which was replaced


class Compute(Protocol):
    """What can be computed: by this process (`LocalCompute`) or by its workers (`WorkerCompute`)."""

    def compute_batch(self, basis: LedgerPrefix, size: BatchSize, terms: Terms = NO_TERMS) -> Draft: ...
    def predictions(self, prefix: LedgerPrefix) -> Predictions: ...
    def front(self, prefix: LedgerPrefix) -> Front: ...
    def hypervolumes(self, prefix: LedgerPrefix) -> tuple[VolumePoint, ...]: ...
    def insight(self, prefix: LedgerPrefix) -> Insight: ...
    def diagnoses(self, prefix: LedgerPrefix) -> Diagnoses: ...

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

    def compute_batch(self, basis: LedgerPrefix, size: BatchSize, terms: Terms = NO_TERMS) -> Draft:
        """The next batch of a study, from everything that its ledger says up to `basis`."""
        with within(self.seconds):
            return draft_batch(self.models.at(basis), size, terms)

    def predictions(self, prefix: LedgerPrefix) -> Predictions:
        """What the model says of every candidate."""
        with within(self.seconds):
            return predictions_of(self.models.at(prefix))

    def front(self, prefix: LedgerPrefix) -> Front:
        """The front of the study's objectives, measured and expected."""
        with within(self.seconds):
            return front_of(self.models.at(prefix))

    def hypervolumes(self, prefix: LedgerPrefix) -> tuple[VolumePoint, ...]:
        """How the measured front grew."""
        with within(self.seconds):
            return hypervolumes_of(self.models.at(prefix).ledger)

    def insight(self, prefix: LedgerPrefix) -> Insight:
        """The certificate, the candidate that the model expects to be best, and what is left to gain; or the front."""
        with within(self.seconds):
            model = self.models.at(prefix)
            insight = insight_of(model)
            if insight.certificate is None or not isinstance(model, Model):
                return insight
            return replace(insight, outlook=outlook_of(model, insight.certificate.recommended))

    def diagnoses(self, prefix: LedgerPrefix) -> Diagnoses:
        """Whether to trust the model, and what it has learnt."""
        with within(self.seconds):
            model = self.models.at(prefix)
            if not isinstance(model, Model):
                return Diagnoses()
            certificate = Predictor(model).certificate()
            return Diagnoses() if certificate is None else diagnose(model, certificate.recommended)

    def saved_model(self, prefix: LedgerPrefix) -> SavedModel | None:
        """The model as a snapshot holds it, for whoever may write; it then counts as saved. None if it is too large."""
        is_small = self.models.at(prefix).nbytes <= LARGEST_SNAPSHOT
        self.models.count_as_saved(prefix.study_id)
        return self.models.saved(prefix) if is_small else None

    def is_worth_saving(self, study_id: int) -> bool:
        return self.models.is_worth_saving(study_id)

    def save(self, prefix: LedgerPrefix) -> None:
        self.models.save(prefix)

    def status(self) -> ComputeStatus:
        return ComputeStatus()

    def close(self) -> None:
        """Nothing: the threads belong to those who call."""


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

    def close(self) -> None:
        """Finish the jobs that run and accept no more."""
        self._threads.close()

    def _forget(self, key: Hashable, job: Job[Any]) -> None:
        with self._lock:
            if self._running.get(key) is job:
                del self._running[key]
