"""A compute worker: a process that computes for one server process, and only reads the database.

It runs as `python -m app.compute.worker DESCRIPTOR`; `supervision` starts it. It ends when the other end of its channel
is closed, which also happens when the server is killed.
"""

import os
import signal
import socket
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from math import inf
from threading import Thread
from time import sleep
from typing import Any

from sqlalchemy import event, make_url
from threadpoolctl import threadpool_limits

from app import logs
from app.compute.channel import (
    CancelRequest,
    Channel,
    ComputationBegun,
    ComputeReply,
    ComputeRequest,
    PlainError,
    WorkerAlive,
    WorkerReady,
    WorkerSettings,
)
from app.compute.ledger_states import LedgerStates
from app.compute.local import LocalCompute
from app.compute.models import Models
from app.deadline import Demand, check_deadline, deadline
from app.storage.array_cache import ArrayCache
from app.storage.database import Database, open_database
from app.storage.dialects import postgresql_engines

BATCHES = "compute_batch"
KINDS = frozenset({BATCHES, "predictions", "front", "hypervolumes", "insight", "diagnoses", "saved_model"})
READERS = 2  # threads for everything but batches, so that a page need not wait for an ask
ALIVE_SECONDS = 1.0
SWITCH_SECONDS = 0.0005  # so that the thread which says that the worker is alive gets its turn


class Worker:
    """Takes requests, computes each on a thread, and replies."""

    def __init__(self, channel: Channel, settings: WorkerSettings) -> None:
        database = open_read_only(settings.database, settings.threads + READERS)
        self._channel = channel
        self._damaged: list[tuple[int, str]] = []
        self._models = Models(
            database,
            ArrayCache(settings.cache_bytes),
            LedgerStates(database),
            settings.model_bytes,
            forget=lambda study_id, head: self._damaged.append((study_id, head)),
        )
        self._compute = LocalCompute(self._models, settings.seconds)
        self._batches = ThreadPoolExecutor(settings.threads, "batches")
        self._readers = ThreadPoolExecutor(READERS, "readers")
        self._demands: dict[int, Demand] = {}

    def serve(self) -> None:
        """Until the server has gone."""
        Thread(target=self._tell_alive, daemon=True).start()
        self._channel.send(WorkerReady())
        while True:
            message = self._channel.receive()
            if isinstance(message, CancelRequest):
                demand = self._demands.get(message.number)
                if demand is not None:
                    demand.leave()
            else:
                self._demands[message.number] = Demand()
                threads = self._batches if message.kind == BATCHES else self._readers
                threads.submit(self._answer, message)

    def _answer(self, request: ComputeRequest) -> None:
        self._channel.send(ComputationBegun(request.number))
        reply = self._computed(request)
        del self._demands[request.number]
        damaged = tuple(self._damaged)
        del self._damaged[: len(damaged)]
        study_id = request.arguments[0].study_id
        reply = replace(reply, is_worth_saving=self._models.is_worth_saving(study_id), damaged=damaged)
        try:
            self._channel.send(reply)
        except Exception as error:
            with suppress(OSError):  # the server has gone, and the main thread ends this process
                self._channel.send(replace(reply, result=None, error=_cannot_travel(reply, error)))

    def _computed(self, request: ComputeRequest) -> ComputeReply:
        try:
            if request.kind not in KINDS:
                raise ValueError(f"no such computation: {request.kind}")
            with deadline(inf, self._demands[request.number]):
                check_deadline()
                return ComputeReply(request.number, getattr(self._compute, request.kind)(*request.arguments))
        except BaseException as error:
            return ComputeReply(request.number, error=_plain(error))

    def _tell_alive(self) -> None:
        """A worker that is frozen, or whose interpreter is held, says nothing, and is replaced."""
        while True:
            sleep(ALIVE_SECONDS)
            if self._demands:
                try:
                    self._channel.send(WorkerAlive())
                except OSError:
                    return


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


def _cannot_travel(reply: ComputeReply, why: Exception) -> PlainError:
    what = "result" if reply.error is None else reply.error.kind.__name__
    return PlainError.of(RuntimeError(f"the {what} of a computation cannot leave its worker: {why!r}"))


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # meant for the server, which then closes the channel
        signal.signal(number, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    try:
        settings: WorkerSettings = channel.receive()
        logs.configure(settings.log_format, settings.log_level)
        logs.hear_python()
        threadpool_limits(1)  # one BLAS thread per computation: more of them slow each other down
        sys.setswitchinterval(SWITCH_SECONDS)
        Worker(channel, settings).serve()
    except (EOFError, OSError):
        os._exit(0)  # nobody waits for what the other threads compute


if __name__ == "__main__":
    main()
