"""What a compute worker does with a request, in a thread of this process."""

import inspect
import socket
from collections.abc import Iterator
from threading import Thread

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from app.compute.answering import KINDS, LocalAnswerer, open_read_only
from app.compute.channel import (
    CancelRequest,
    Channel,
    ComputationBegun,
    ComputeReply,
    ComputeRequest,
    WorkerReady,
    WorkerSettings,
)
from app.compute.ledger_states import LedgerPrefix
from app.compute.local import Compute, LocalCompute
from app.compute.worker import Worker
from app.compute.workers import WorkerCompute
from app.deadline import Unwanted, check_deadline
from app.domain.errors import Refusal
from tests.compute.telling import until
from tests.conftest import on_sqlite

PREFIX = LedgerPrefix(1, 1, "0")


@pytest.fixture
def channel(address: str) -> Iterator[Channel]:
    """The server's end; a worker serves the other."""
    ours, theirs = socket.socketpair()
    settings = WorkerSettings(address, 2**20, 2**20, 60.0, 1, "json", "error")
    worker = Worker(Channel(theirs), LocalAnswerer(settings), settings.threads)
    thread = Thread(target=served, args=(worker,))
    thread.start()
    server = Channel(ours)
    assert isinstance(server.receive(), WorkerReady)
    yield server
    server.close()
    thread.join()
    ours.close()
    theirs.close()


def served(worker: Worker) -> None:
    with pytest.raises((EOFError, OSError)):
        worker.serve()


def reply(channel: Channel) -> ComputeReply:
    while not isinstance(message := channel.receive(), ComputeReply):
        pass
    return message


@on_sqlite
def test_a_computation_that_nobody_wants_ends_at_its_next_look(channel: Channel, monkeypatch) -> None:
    def endless(_compute: LocalCompute, _prefix: LedgerPrefix) -> None:
        while True:
            check_deadline()

    monkeypatch.setattr(LocalCompute, "insight", endless)
    channel.send(ComputeRequest(1, "insight", (PREFIX,)))
    assert channel.receive() == ComputationBegun(1)
    channel.send(CancelRequest(1))
    assert reply(channel).error.kind is Unwanted


@on_sqlite
def test_a_computation_that_nobody_wants_before_it_is_begun_is_not_begun(channel: Channel, monkeypatch) -> None:
    called = []
    monkeypatch.setattr(LocalCompute, "compute_batch", lambda *_: sleeping(called))
    for number in (1, 2):
        channel.send(ComputeRequest(number, "compute_batch", (PREFIX,)))  # on one thread
    channel.send(CancelRequest(2))
    assert channel.receive() == ComputationBegun(1)
    until(lambda: called == [1])
    channel.send(CancelRequest(1))
    assert [reply(channel).error.kind, reply(channel).error.kind] == [Unwanted, Unwanted]
    assert len(called) == 1


def sleeping(called: list[int]) -> None:
    called.append(1)
    while True:
        check_deadline()


@on_sqlite
def test_an_error_says_where_it_happened_and_one_that_cannot_travel_is_told_in_words(
    channel: Channel, monkeypatch
) -> None:
    channel.send(ComputeRequest(1, "close", (PREFIX,)))
    unknown = reply(channel).error.error()
    assert (type(unknown), str(unknown)) == (ValueError, "no such computation: close")
    assert "answering.py" in unknown.__notes__[0]
    monkeypatch.setattr(LocalCompute, "front", lambda *_: lambda: None)
    channel.send(ComputeRequest(2, "front", (PREFIX,)))
    assert "cannot leave its worker" in str(reply(channel).error.error())


def test_a_worker_computes_everything_that_a_server_may_ask_for() -> None:
    computations = {
        name
        for name, method in inspect.getmembers(Compute, inspect.isfunction)
        if {"prefix", "basis"} & inspect.signature(method).parameters.keys()
    }
    assert computations - {"save"} | {"saved_model"} == KINDS
    assert all(inspect.signature(getattr(WorkerCompute, name)) for name in computations)


def test_a_worker_cannot_write(address: str) -> None:
    database = open_read_only(address, 2)
    with pytest.raises((DatabaseError, Refusal)), database.write() as connection:
        connection.execute(text("DELETE FROM studies"))
    with database.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM studies")).scalar_one() == 0
    database.dispose()
