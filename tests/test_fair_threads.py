"""Threads for everyone: no owner holds them all, and nothing is done for those who have left."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from threading import Event
from time import sleep

import anyio
import pytest

from app.api import limits
from app.api.limits import run_short
from app.deadline import DeadlinePassed, Demand, Unwanted, check_deadline, deadline
from app.domain.errors import Overloaded
from app.fair_threads import FairThreads
from app.services.memory import MemoryBudget

Make = Callable[..., FairThreads]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[FairThreads] = []

    def threads(number: int = 3, most_waiting: int = 10, seconds: float = 60) -> FairThreads:
        made.append(FairThreads(number, most_waiting, seconds, "test"))
        return made[-1]

    yield threads
    for each in made:
        each.close()


def test_one_owner_never_holds_all_threads(make: Make) -> None:
    threads, go_on = make(3), Event()
    greedy = [threads.start("greedy", lambda: go_on.wait(10)) for _ in range(6)]
    assert threads.start("other", lambda: "served").future.result(5) == "served"
    go_on.set()
    assert all(job.future.result(5) for job in greedy)


def test_owners_are_served_in_turn(make: Make) -> None:
    threads, go_on, order = make(1), Event(), []
    threads.start("a", lambda: go_on.wait(10))
    jobs = [threads.start(owner, lambda owner=owner: order.append(owner)) for owner in ("a", "a", "a", "b", "c")]
    go_on.set()
    for job in jobs:
        job.future.result(5)
    assert order == ["a", "b", "c", "a", "a"]


def test_one_owner_never_fills_the_line(make: Make) -> None:
    threads, go_on = make(1, 4), Event()
    for _ in range(3):
        threads.start("greedy", lambda: go_on.wait(10))
    with pytest.raises(Overloaded):
        threads.start("greedy", lambda: None)
    threads.start("other", lambda: None)
    threads.start("third", lambda: None)
    with pytest.raises(Overloaded):
        threads.start("fourth", lambda: None)
    go_on.set()


def test_work_for_those_who_left_is_not_begun_and_makes_room(make: Make) -> None:
    threads, go_on, done = make(1, 1), Event(), []
    threads.start("a", lambda: go_on.wait(10))
    left = threads.start("a", lambda: done.append("left"))
    left.leave()
    stayed = threads.start("a", lambda: done.append("stayed"))
    go_on.set()
    stayed.future.result(5)
    assert done == ["stayed"]
    with pytest.raises(CancelledError):
        left.future.result(0)


def test_work_that_runs_ends_when_everyone_has_left_unless_it_was_promised(make: Make) -> None:
    threads = make(2)

    def endless() -> None:
        while True:
            sleep(0.001)
            check_deadline()

    job = threads.start("a", endless)
    assert job.demand.join()
    job.leave()
    sleep(0.05)
    assert not job.future.done()  # the other still waits
    job.leave()
    with pytest.raises(Overloaded):
        job.future.result(5)
    assert not job.demand.join()
    promised = Demand()
    promised.promise()
    promised.leave()
    with deadline(60, promised):
        check_deadline()


def test_work_ends_at_its_deadline(make: Make) -> None:
    def endless() -> None:
        while True:
            check_deadline()

    with pytest.raises(DeadlinePassed):
        make(seconds=0.05).start("a", endless).future.result(5)


def test_an_inner_deadline_never_outlives_the_outer_one_and_knows_who_left() -> None:
    demand = Demand()
    with deadline(-1), deadline(60), pytest.raises(DeadlinePassed):
        check_deadline()
    demand.leave()
    with deadline(60, demand), deadline(60), pytest.raises(Unwanted):
        check_deadline()
    check_deadline()


def test_short_work_that_has_begun_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_SECONDS", 0.05)

    def work() -> str:
        sleep(0.3)
        return "done"

    assert anyio.run(run_short, work) == "done"


def _is_refused(budget: MemoryBudget, size: int) -> bool:
    try:
        with budget.reserve(size):
            return False
    except Overloaded:
        return True


def test_memory_is_reserved_and_given_back_and_what_needs_more_than_all_is_the_only_large_one() -> None:
    budget = MemoryBudget(100)
    with budget.reserve(60):
        with pytest.raises(Overloaded), budget.reserve(20):  # large ones leave a quarter to small ones
            pass
        with budget.reserve(15), budget.reserve(6), budget.reserve(6), budget.reserve(6), budget.reserve(6):
            assert _is_refused(budget, 6)
    with budget.reserve(1000):
        assert _is_refused(budget, 7)
        with budget.reserve(6), budget.reserve(6), budget.reserve(6), budget.reserve(6):  # pages go on meanwhile
            assert _is_refused(budget, 6)
    with budget.reserve(100):
        pass
