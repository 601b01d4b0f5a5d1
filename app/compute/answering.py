"""What answers a compute request: in a worker process, or in an actor on another machine, with the same code.

It reads the database and never writes it. What should be written (a snapshot, a damaged one to drop) goes back with the
reply.
"""

import traceback
from dataclasses import replace
from math import inf
from typing import Any, Protocol

from sqlalchemy import event, make_url

from app.compute.channel import ComputeReply, ComputeRequest, PlainError, WorkerSettings
from app.compute.ledger_states import LedgerStates
from app.compute.local import LocalCompute
from app.compute.models import Models
from app.deadline import Demand, check_deadline, deadline
from app.modelling.spreading import ShardLost, Spread
from app.storage.array_cache import ArrayCache
from app.storage.database import Database, open_database
from app.storage.dialects import postgresql_engines
from app.storage.mapped_arrays import MappedArrays

BATCHES = "compute_batch"
KINDS = frozenset({BATCHES, "predictions", "front", "hypervolumes", "insight", "diagnoses", "saved_model"})
READERS = 2  # threads for everything but batches, so that a page need not wait for an ask


class Answerer(Protocol):
    """Computes requests, each on the thread that calls."""

    def answer(self, request: ComputeRequest, demand: Demand) -> ComputeReply:
        """What came of it, or its error; given up as soon as it is no longer in demand."""

    def must_be_alive(self) -> None:
        """Returns if requests would be answered now; otherwise waits, or raises `OSError`."""


class LocalAnswerer:
    """Answers with the models of this process. Raises `ShardLost` if others hold shards of these, and are gone."""

    def __init__(self, settings: WorkerSettings, spread: Spread | None = None) -> None:
        self._database = open_read_only(settings.database, settings.threads + READERS)
        self._damaged: list[tuple[int, str]] = []
        self._models = Models(
            self._database,
            ArrayCache(settings.cache_bytes, MappedArrays(settings.array_folder) if settings.array_folder else None),
            LedgerStates(self._database),
            settings.model_bytes,
            forget=lambda study_id, head: self._damaged.append((study_id, head)),
        )
        self._compute = LocalCompute(self._models, settings.seconds, settings.sweep_threads, spread)

    def answer(self, request: ComputeRequest, demand: Demand) -> ComputeReply:
        reply = self._computed(request, demand)
        damaged = tuple(self._damaged)
        del self._damaged[: len(damaged)]
        study_id = request.arguments[0].study_id
        return replace(reply, is_worth_saving=self._models.is_worth_saving(study_id), damaged=damaged)

    def must_be_alive(self) -> None:
        """It is, since it runs this."""

    def must_reach_database(self) -> None:
        """Raises unless the database can be read from here."""
        with self._database.read():
            pass

    def _computed(self, request: ComputeRequest, demand: Demand) -> ComputeReply:
        try:
            if request.kind not in KINDS:
                raise ValueError(f"no such computation: {request.kind}")
            with deadline(inf, demand):
                check_deadline()
                return ComputeReply(request.number, getattr(self._compute, request.kind)(*request.arguments))
        except ShardLost:
            raise
        except BaseException as error:
            return ComputeReply(request.number, error=_plain(error))


def open_read_only(address: str, connections: int) -> Database:
    """The database, for reading; a write is refused by the database itself. Nothing is connected yet."""
    url = make_url(address)
    if url.get_backend_name() != "sqlite":
        reader, _ = postgresql_engines(url, connections)
        return Database(reader, reader)
    database = open_database(address, connections)
    if database.file is not None:
        database.file.share()
    event.listen(database.reader, "connect", _refuse_writes)
    return replace(database, writer=database.reader)


def cannot_travel(reply: ComputeReply, why: Exception) -> ComputeReply:
    """Instead of a reply that cannot be sent."""
    what = "result" if reply.error is None else reply.error.kind.__name__
    error = RuntimeError(f"the {what} of a computation cannot leave its worker: {why!r}")
    return replace(reply, result=None, error=PlainError.of(error))


def _refuse_writes(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only = ON")
    cursor.close()


def _plain(error: BaseException) -> PlainError:
    """The error without its frames; where it happened goes along as a note."""
    frames = traceback.extract_tb(error.__traceback__)
    if frames:
        error.add_note(f"in a compute worker, {frames[-1].filename}:{frames[-1].lineno}")
    return PlainError.of(error)
