"""Answers under their Idempotency-Key: one effect, one answer, whoever comes second."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier, Event

import pytest

from app.domain import clock
from app.domain.errors import IdempotencyKeyReused
from app.services import maintenance
from app.services.maintenance import AnswerExpiry
from app.storage import answers
from app.storage.answers import Answer
from app.storage.database import Database, open_database
from app.storage.tables import idempotency

DONE = Answer(201, b'{"made": true}', {"etag": '"1"'})


def test_the_first_claim_is_ours_and_the_next_gets_the_answer(database: Database) -> None:
    with database.write() as connection:
        assert answers.claim(connection, "key", "token", "print") is None
        answers.store(connection, "key", "token", "print", DONE)
    with database.write() as connection:
        assert answers.claim(connection, "key", "token", "print") == DONE
    with database.read() as connection:
        assert answers.find(connection, "key", "token", "print") == DONE


def test_another_request_under_the_same_token_is_refused(database: Database) -> None:
    with database.write() as connection:
        answers.claim(connection, "key", "token", "print")
        answers.store(connection, "key", "token", "print", DONE)
    with database.write() as connection, pytest.raises(IdempotencyKeyReused):
        answers.claim(connection, "key", "token", "another")
    with database.read() as connection, pytest.raises(IdempotencyKeyReused):
        answers.find(connection, "key", "token", "another")


def test_two_keys_may_choose_the_same_token(database: Database) -> None:
    with database.write() as connection:
        assert answers.claim(connection, "one", "token", "print") is None
        assert answers.claim(connection, "two", "token", "print") is None
        assert answers.find(connection, "three", "token", "print") is None


def test_what_is_kept_of_an_answer_with_a_secret_has_no_secret(database: Database) -> None:
    with database.write() as connection:
        answers.claim(connection, "key", "token", "print")
        answers.store(connection, "key", "token", "print", Answer(201, b"the secret", {}, stored_body=b"no secret"))
    with database.read() as connection:
        assert answers.find(connection, "key", "token", "print") == Answer(201, b"no secret")


def test_a_claim_that_failed_is_free_again(database: Database) -> None:
    def claim_and_fail() -> None:
        with database.write() as connection:
            answers.claim(connection, "key", "token", "print")
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        claim_and_fail()
    with database.write() as connection:
        assert answers.claim(connection, "key", "token", "another") is None


@pytest.mark.parametrize("outcome", ["commits", "fails"])
def test_of_two_at_the_same_time_the_second_waits_for_the_first(database: Database, address: str, outcome: str) -> None:
    other, claimed, tried = open_database(address), Event(), Barrier(2)

    def first() -> None:
        with database.write() as connection:
            assert answers.claim(connection, "key", "token", "print") is None
            claimed.set()
            tried.wait(10)
            if outcome == "fails":
                raise RuntimeError("on purpose")
            answers.store(connection, "key", "token", "print", DONE)

    def second() -> Answer | None:
        claimed.wait(10)
        tried.wait(10)
        with other.write() as connection:
            return answers.claim(connection, "key", "token", "print")

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.submit(first), pool.submit(second)
        assert two.result(20) == (DONE if outcome == "commits" else None)
        assert type(one.exception(20)) is (type(None) if outcome == "commits" else RuntimeError)
    other.dispose()


def test_old_answers_are_forgotten(database: Database) -> None:
    with database.write() as connection:
        answers.claim(connection, "key", "token", "print")
        answers.store(connection, "key", "token", "print", DONE)
        assert not answers.any_older_than(connection, "2000")
        assert answers.any_older_than(connection, "9000")
        assert answers.drop_older_than(connection, "2000") == 0
        assert answers.drop_older_than(connection, "9000") == 1
        assert answers.find(connection, "key", "token", "print") is None


def test_a_running_server_drops_answers_that_are_too_old(database: Database) -> None:
    _store_one(database, "2020-01-01T00:00:00.000000Z")
    assert AnswerExpiry(database, days=30).run() == 1


@pytest.mark.parametrize(("at_the_start", "later"), [(0, 40), (40, 0)])
def test_a_clock_that_was_or_is_set_ahead_drops_nothing(
    database: Database, monkeypatch: pytest.MonkeyPatch, at_the_start: int, later: int
) -> None:
    _store_one(database, clock.now())
    days_ahead = at_the_start
    monkeypatch.setattr(maintenance, "read_clock", lambda: datetime.now(UTC) + timedelta(days=days_ahead))
    expiry = AnswerExpiry(database, days=30)
    days_ahead = later
    assert expiry.run() == 0
    with database.read() as connection:
        assert answers.find(connection, "key", "token", "print") == DONE


def _store_one(database: Database, created_at: str) -> None:
    with database.write() as connection:
        answers.claim(connection, "key", "token", "print")
        answers.store(connection, "key", "token", "print", DONE)
        connection.execute(idempotency.update().values(created_at=created_at))
