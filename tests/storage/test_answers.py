"""Answers under their Idempotency-Key: one effect, one answer, whoever comes second."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest

from app.domain.errors import IdempotencyKeyReused
from app.storage import answers
from app.storage.answers import Answer
from app.storage.database import Database, open_database

DONE = Answer(201, b'{"made": true}', {"etag": '"1"'})


def test_the_first_claim_is_ours_and_the_next_gets_the_answer(database: Database) -> None:
    with database.write() as connection:
        assert answers.claim(connection, "key", "token", "print") is None
        answers.store(connection, "key", "token", DONE)
    with database.write() as connection:
        assert answers.claim(connection, "key", "token", "print") == DONE
    with database.read() as connection:
        assert answers.find(connection, "key", "token", "print") == DONE


def test_another_request_under_the_same_token_is_refused(database: Database) -> None:
    with database.write() as connection:
        answers.claim(connection, "key", "token", "print")
        answers.store(connection, "key", "token", DONE)
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
        answers.store(connection, "key", "token", Answer(201, b"the secret", {}, stored_body=b"no secret"))
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
            answers.store(connection, "key", "token", DONE)

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
        answers.store(connection, "key", "token", DONE)
        assert not answers.any_older_than(connection, "2000")
        assert answers.any_older_than(connection, "9000")
        assert answers.drop_older_than(connection, "2000") == 0
        assert answers.drop_older_than(connection, "9000") == 1
        assert answers.find(connection, "key", "token", "print") is None
