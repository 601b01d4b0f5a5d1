"""Every promise in its short form, and every harness with a bug planted that it must find."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.databases import Databases
from tests.reliability.guarantees import BEGIN, DOCUMENT, END, row, written
from tests.reliability.lanes import APART, Lanes
from tests.reliability.promise import Budget, Count, Promise, every_promise

SEED = 1
TRIES = 3  # to find a planted bug, each with a seed of its own: what a harness happens to do is chance
PROMISES = every_promise()
TEETH = [
    pytest.param(promise, tooth, id=f"{promise.number}-{name}")
    for promise in PROMISES
    for name, tooth in promise.teeth.items()
]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.number)
def test_a_promise_holds(promise: Promise, databases: Databases) -> None:
    count = promise.prove(Budget(cases=promise.short), SEED, databases)
    assert count.violations == ()
    assert count.cases >= promise.short


@pytest.mark.parametrize(("promise", "tooth"), TEETH)
def test_a_planted_bug_is_found(promise: Promise, tooth, databases: Databases) -> None:
    budget = Budget(cases=promise.bite or promise.short)
    with tooth():
        assert any(promise.prove(budget, SEED + number, databases).violations for number in range(TRIES))


def test_several_try_at_the_same_time_with_seeds_of_their_own(databases: Databases, monkeypatch) -> None:
    def prove(budget: Budget, seed: int, own: Databases) -> Count:
        assert (budget.seconds, own.postgres_server) == (5, databases.postgres_server)
        return Count(10, ("broken",) if seed > APART else (), {"seeds": seed})

    promise = replace(PROMISES[0], prove=prove, parallel=True)
    monkeypatch.setattr("tests.reliability.lanes.every_promise", lambda: [promise])
    with ThreadPoolExecutor(2) as pool:
        lanes = Lanes(2, pool, databases)
        count = lanes.prove(promise, 5, 7)
        assert count == Count(20, (f"seed {APART + 7}: broken",), {"seeds": APART + 14})
        assert lanes.prove(replace(promise, parallel=False), 5, 7).cases == 10


def test_every_promise_has_its_own_number_and_a_tooth() -> None:
    assert len({promise.number for promise in PROMISES}) == len(PROMISES)
    assert [promise.number for promise in PROMISES if not promise.teeth] == []


def test_every_promise_is_in_the_document() -> None:
    assert [promise.number for promise in PROMISES if f"\n| {promise.number} | " not in DOCUMENT.read_text()] == []


def test_rows_of_other_promises_stay() -> None:
    document = written(f"words\n{BEGIN}a\nb\n| 1 | old |\n| 3 | kept |\n{END}\nmore", ["| 2 | new |", "| 1 | new |"])
    assert [line for line in document.splitlines() if line.startswith("| ") and "#" not in line] == [
        "| 1 | new |",
        "| 2 | new |",
        "| 3 | kept |",
    ]
    assert document.endswith("\nmore")


def test_a_row_tells_what_was_tried_and_the_bound() -> None:
    told = row(PROMISES[0], Count(300, ("lost",), {"kills": 12}))
    assert f"300 {PROMISES[0].unit}, 12 kills | 1 | 0.01 |" in told
