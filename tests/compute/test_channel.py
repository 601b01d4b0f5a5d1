"""The channel between a server process and a compute worker: every value arrives as it was sent."""

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import numpy as np
import pytest

from app.compute.channel import LARGE, Channel, PlainError
from app.domain import errors
from app.domain.errors import Finding, Invalid, Overloaded, Refusal, TermsUnmet
from app.modelling.terms import Grouping, Terms


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel, socket.socket]]:
    """Both ends, and the socket of the second."""
    one, other = socket.socketpair()
    with one, other:
        yield Channel(one), Channel(other), other


def sent(ends: tuple[Channel, Channel, socket.socket], message: object) -> object:
    """What arrives."""
    thread = Thread(target=ends[0].send, args=(message,))  # a long message needs someone who receives
    thread.start()
    arrived = ends[1].receive()
    thread.join()
    return arrived


@pytest.mark.parametrize("size", [0, 1, LARGE // 8 - 1, LARGE // 8, 10 * LARGE])
def test_arrays_arrive_whole_and_several_after_each_other(ends, size: int) -> None:
    terms = Terms(
        where=np.arange(size) % 3 == 0,
        exclude=np.arange(size),
        per=(Grouping("solvent", np.arange(size)[::-1] - 1, 3),),
    )
    for _ in range(3):
        arrived = sent(ends, terms)
        assert isinstance(arrived, Terms)
        assert np.array_equal(arrived.where, terms.where)
        assert np.array_equal(arrived.exclude, terms.exclude)
        assert np.array_equal(arrived.per[0].codes, terms.per[0].codes)
        assert (arrived.per[0].column, arrived.per[0].most) == ("solvent", 3)


def test_a_long_text_arrives(ends) -> None:
    assert sent(ends, "x" * 10**6) == "x" * 10**6


def test_a_large_array_does_not_go_through_the_socket_and_is_read_only(ends) -> None:
    array = np.random.default_rng(1).random((100, 5_000))
    ends[0].send(array)  # would block: nobody reads, and the socket has no room for four megabytes
    waiting = len(ends[2].recv(2**20, socket.MSG_PEEK))
    arrived = ends[1].receive()
    assert waiting < 1_000
    assert np.array_equal(arrived, array)
    assert not arrived.flags.writeable


def test_arrays_for_which_there_is_no_descriptor_end_the_connection(ends) -> None:
    ends[0].send(np.zeros(LARGE))
    with no_more_open_files(), pytest.raises(OSError, match="too many open files"):
        ends[1].receive()


@contextmanager
def no_more_open_files() -> Iterator[None]:
    """This process can open no further file."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_end_of_the_other_side_is_noticed(ends) -> None:
    ends[0].close()
    with pytest.raises(EOFError):
        ends[1].receive()
    with pytest.raises(OSError, match="Broken pipe"):
        ends[1].send("anybody?")


def every_refusal(kind: type[Refusal] = Refusal) -> list[type[Refusal]]:
    return [kind, *(other for child in kind.__subclasses__() for other in every_refusal(child))]


@pytest.mark.parametrize("kind", [kind for kind in every_refusal() if kind.__module__ == errors.__name__])
def test_every_refusal_crosses_as_itself(ends, kind: type[Refusal]) -> None:
    findings = [Finding("sizes", "Use at most 3.", pointer="/min_size")]
    refusal = kind(findings) if issubclass(kind, Invalid) else kind("Something special.")
    again = sent(ends, PlainError.of(refusal)).error()
    assert type(again) is kind
    assert (str(again), vars(again)) == (str(refusal), vars(refusal))


def test_what_a_refusal_knows_crosses_too(ends) -> None:
    assert sent(ends, PlainError.of(TermsUnmet(found=3))).error().facts == {"found": 3}
    assert sent(ends, PlainError.of(Overloaded(retry_after=7))).error().retry_after == 7
    noted = ValueError("wrong")
    noted.add_note("in a compute worker")
    assert sent(ends, PlainError.of(noted)).error().__notes__ == ["in a compute worker"]
