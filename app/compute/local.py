"""Computing in this process: each kind of work is one call with plain data in and plain data out, on a few threads."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from app.compute.ledger_states import LedgerPrefix
from app.compute.models import Models
from app.domain.batches import BatchSize, Draft
from app.domain.errors import Overloaded
from app.domain.predictions import Front, Insight
from app.modelling.front_reading import front_of, insight_of, predictions_of
from app.modelling.model import within
from app.modelling.predicting import Predictions
from app.modelling.several_drafting import draft_batch

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class LocalCompute:
    """Computes with the models of this process. The caller must not hold a transaction open meanwhile.

    A computation that takes longer than `seconds` is refused with `ComputationTooLong`.
    """

    models: Models
    seconds: float

    def compute_batch(self, basis: LedgerPrefix, size: BatchSize) -> Draft:
        """The next batch of a study, from everything that its ledger says up to `basis`."""
        with within(self.seconds):
            return draft_batch(self.models.at(basis), size)

    def predictions(self, prefix: LedgerPrefix) -> Predictions:
        """What the model says of every candidate."""
        with within(self.seconds):
            return predictions_of(self.models.at(prefix))

    def front(self, prefix: LedgerPrefix) -> Front:
        """The front of the study's objectives, measured and expected."""
        with within(self.seconds):
            return front_of(self.models.at(prefix))

    def insight(self, prefix: LedgerPrefix) -> Insight:
        """The certificate and the candidate that the model expects to be best, or the front of several objectives."""
        with within(self.seconds):
            return insight_of(self.models.at(prefix))


class Jobs:
    """Runs each job once, even if nobody waits for it any more. A job that is lost in a crash costs only time."""

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="compute")
        self._most = threads + most_waiting
        self._running: dict[Hashable, Future[Any]] = {}
        self._lock = Lock()

    def start(self, key: Hashable, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """The job under `key`: the one that runs already, or a new one that calls `work` with these arguments."""
        with self._lock:
            running = self._running.get(key)
            if running is not None and not running.done():
                return running
            if len(self._running) >= self._most:
                raise Overloaded
            future = self._pool.submit(work, *args, **kwargs)
            self._running[key] = future
        future.add_done_callback(lambda _: self._forget(key, future))
        return future

    def close(self) -> None:
        """Finish the jobs that run and accept no more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _forget(self, key: Hashable, future: Future[Any]) -> None:
        with self._lock:
            if self._running.get(key) is future:
                del self._running[key]
