"""Computing in worker processes: the same calls as `LocalCompute`, each a request to the worker of its study."""

from collections.abc import Sequence
from concurrent.futures import wait
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.compute import snapshots
from app.compute.channel import ComputeReply
from app.compute.ledger_states import LedgerPrefix
from app.compute.local import ComputeKind, ComputeStatus
from app.compute.supervision import SupervisedWorker
from app.deadline import check_deadline
from app.domain.batches import BatchSize, Draft
from app.domain.diagnoses import Diagnoses
from app.domain.errors import Refusal
from app.domain.predictions import Front, Insight, VolumePoint
from app.modelling.predicting import Predictions
from app.modelling.saved_model import SavedModel
from app.modelling.terms import NO_TERMS, Terms
from app.storage.database import Database

LOOK_SECONDS = 0.1  # between two looks whether anybody still waits


class WorkerCompute:
    """The workers of this process. A study always has the same one, whose caches know it.

    Workers only read. What follows from a computation for the database (a snapshot to save, a damaged one to drop) is
    done here.
    """

    kind: ComputeKind = "processes"

    def __init__(self, database: Database, workers: Sequence[SupervisedWorker]) -> None:
        self._database = database
        self._worth_saving: set[int] = set()
        self._workers = workers

    def compute_batch(self, basis: LedgerPrefix, size: BatchSize, terms: Terms = NO_TERMS) -> Draft:
        draft: Draft = self._compute("compute_batch", basis, size, terms)
        return draft

    def predictions(self, prefix: LedgerPrefix) -> Predictions:
        predictions: Predictions = self._compute("predictions", prefix)
        return predictions

    def front(self, prefix: LedgerPrefix) -> Front:
        front: Front = self._compute("front", prefix)
        return front

    def hypervolumes(self, prefix: LedgerPrefix) -> tuple[VolumePoint, ...]:
        volumes: tuple[VolumePoint, ...] = self._compute("hypervolumes", prefix)
        return volumes

    def insight(self, prefix: LedgerPrefix) -> Insight:
        insight: Insight = self._compute("insight", prefix)
        return insight

    def diagnoses(self, prefix: LedgerPrefix, quantity: str = "") -> Diagnoses:
        diagnoses: Diagnoses = self._compute("diagnoses", prefix, quantity)
        return diagnoses

    def is_worth_saving(self, study_id: int) -> bool:
        return study_id in self._worth_saving

    def save(self, prefix: LedgerPrefix) -> None:
        saved: SavedModel | None = self._compute("saved_model", prefix)
        if saved is not None:
            snapshots.save(self._database, prefix, saved)

    def status(self) -> ComputeStatus:
        return ComputeStatus(
            kind=self.kind,
            workers=len(self._workers),
            ready=sum(worker.is_ready for worker in self._workers),
            running=sum(worker.running for worker in self._workers),
            deaths=sum(worker.deaths for worker in self._workers),
            nodes=len({worker.node for worker in self._workers if worker.node is not None}),
        )

    def close(self) -> None:
        """End the workers; what they compute is given up."""
        for worker in self._workers:
            worker.close()

    def _compute(self, kind: str, prefix: LedgerPrefix, *arguments: Any) -> Any:
        """The result of a computation, or its error; given up when its deadline passes or nobody waits for it."""
        worker = self._workers[prefix.study_id % len(self._workers)]
        computation = worker.start(kind, (prefix, *arguments))
        try:
            while not wait([computation.future], LOOK_SECONDS).done:
                check_deadline()
        except BaseException:
            worker.cancel(computation)
            raise
        reply = computation.future.result()
        self._note(prefix.study_id, reply)
        if reply.error is not None:
            raise reply.error.error()
        return reply.result

    def _note(self, study_id: int, reply: ComputeReply) -> None:
        """What a reply says beyond its result."""
        (self._worth_saving.add if reply.is_worth_saving else self._worth_saving.discard)(study_id)
        for damaged in reply.damaged:
            try:
                snapshots.forget(self._database, *damaged)
            except (Refusal, SQLAlchemyError) as error:  # it is found again
                structlog.get_logger().warning("a damaged snapshot stays", study=damaged[0], error=repr(error))
