"""The predictions that were read last, so that the next page of a long list does not compute all of them again.

A head names the whole ledger before it, so what is kept never goes stale. From a compute worker the arrays arrive in
shared memory: keeping them costs 48 bytes for each candidate, and no copy.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from app.compute.ledger_states import LedgerPrefix
from app.modelling.predicting import Predictions


class RecentPredictions:
    """The predictions of the most recently read ledgers, up to a number of bytes; always those of the last one."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, Predictions] = OrderedDict()
        self._lock = Lock()  # guards the book-keeping; computing the same twice is harmless

    def at(self, prefix: LedgerPrefix, compute: Callable[[LedgerPrefix], Predictions]) -> Predictions:
        """What the model says after a prefix: kept, or computed now."""
        with self._lock:
            if prefix.head in self._kept:
                self._kept.move_to_end(prefix.head)
                return self._kept[prefix.head]
        predictions = compute(prefix)
        self._keep(prefix.head, predictions)
        return predictions

    @property
    def nbytes(self) -> int:
        return sum(predictions.nbytes for predictions in self._kept.values())

    def _keep(self, head: str, predictions: Predictions) -> None:
        with self._lock:
            self._kept[head] = predictions
            self._kept.move_to_end(head)
            while len(self._kept) > 1 and self.nbytes > self._most_bytes:
                self._kept.popitem(last=False)
