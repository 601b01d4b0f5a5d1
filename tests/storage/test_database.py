"""Transactions on both databases: all or nothing, durable, and never "database is locked"."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from app.domain.errors import DatabaseBusy, OutcomeUnknown, StorageFull, Unavailable
from app.storage import dialects
from app.storage.database import (
    Database,
    _meaning,
    admitted_keys,
    begin_group,
    locked_studies,
    open_database,
)
from app.storage.dialects import insert_if_absent
from app.storage.tables import blobs
from tests import postgres


def row(digest: str) -> dict[str, object]:
    return {"digest": digest, "scope": "", "dtype": "<f8", "shape": "[0]", "size": 0, "created_at": "now"}


def count(database: Database) -> int:
    with database.read() as connection:
        return len(connection.execute(select(blobs.c.digest)).all())


def test_a_failed_write_leaves_nothing(database: Database) -> None:
    def write_and_fail() -> None:
        with database.write() as connection:
            insert_if_absent(connection, blobs, row("a"))
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        write_and_fail()
    assert count(database) == 0


def test_a_write_is_seen_by_every_later_read(database: Database, address: str) -> None:
    with database.write() as connection:
        insert_if_absent(connection, blobs, row("a"))
    other = open_database(address)
    assert count(other) == 1
    other.dispose()


def test_inserting_what_is_there_changes_nothing_and_says_so(database: Database) -> None:
    with database.write() as connection:
        assert insert_if_absent(connection, blobs, row("a"))
        assert not insert_if_absent(connection, blobs, row("a"))


def test_what_a_transaction_has_noted_ends_with_it(address: str) -> None:
    """A connection is used again: the keys that were admitted and the studies that were locked are looked up anew."""
    one = open_database(address, connections=1)
    with one.write() as connection:
        admitted_keys(connection).add("a key")
        begin_group(connection, together=True)
        locked_studies(connection)["s"] = None
    for again in (one.read, one.rehearse, one.write):
        with again() as connection:
            assert (admitted_keys(connection), locked_studies(connection)) == (set(), {})
    one.dispose()


def test_a_read_sees_one_snapshot(database: Database) -> None:
    with database.read() as reader:
        assert reader.execute(select(blobs.c.digest)).all() == []
        with database.write() as writer:
            insert_if_absent(writer, blobs, row("a"))
        assert reader.execute(select(blobs.c.digest)).all() == []


def test_what_is_acknowledged_is_on_the_disk(database: Database) -> None:
    with database.write() as connection:
        if connection.dialect.name == "postgresql":
            assert connection.execute(text("SHOW synchronous_commit")).scalar_one() == "on"
            return
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 15_000}


def test_an_old_sqlite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "SAFE_VERSION", (99, 0, 0))
    with pytest.raises(RuntimeError, match=r"99\.0\.0 or newer is needed"):
        dialects.sqlite_driver()


def test_a_postgresql_that_may_lose_commits_is_refused(postgres_server: str) -> None:
    careless = postgres_server.format(name="careless")
    postgres.create_database(postgres_server, "careless")
    postgres.administer(postgres_server, "ALTER DATABASE careless SET synchronous_commit = off")
    with pytest.raises(RuntimeError, match="synchronous_commit = off"):
        open_database(careless)


@pytest.mark.parametrize("place", ["host=/nowhere", "host=127.0.0.1&port=1"])
def test_a_postgresql_that_is_not_there_is_told_as_unavailable(place: str) -> None:
    with pytest.raises(Unavailable):
        open_database(f"postgresql://nobody@/nothing?{place}")


def _write_many(address: str, prefix: str) -> None:
    database = open_database(address, connections=4)

    def write(number: int) -> None:
        with database.write() as connection:
            seen = len(connection.execute(select(blobs.c.digest)).all())
            insert_if_absent(connection, blobs, row(f"{prefix}-{number}-{seen}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(25)))
    database.dispose()


def test_processes_writing_at_the_same_time_never_see_a_locked_database(database: Database, address: str) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write_many, args=(address, str(n))) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert count(database) == 75


class _DriverError(Exception):
    def __init__(self, words: str, sqlstate: str | None = None) -> None:
        super().__init__(words)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "committing", "meaning"),
    [
        (_DriverError("database or disk is full"), True, StorageFull),
        (_DriverError("could not extend file", "53100"), False, StorageFull),
        (_DriverError("database is locked"), False, DatabaseBusy),
        (_DriverError("deadlock detected", "40P01"), True, DatabaseBusy),
        (_DriverError("disk I/O error"), True, OutcomeUnknown),
        (_DriverError("disk I/O error"), False, Unavailable),
        (_DriverError("terminating connection", "57P01"), False, Unavailable),
        (_DriverError("server closed the connection", "08006"), True, OutcomeUnknown),
    ],
)
def test_a_drivers_failure_is_told_in_the_words_of_the_domain(
    error: Exception, committing: bool, meaning: type[Exception]
) -> None:
    wrapped = DBAPIError("SELECT 1", None, error)
    assert type(_meaning(wrapped, committing=committing)) is meaning
