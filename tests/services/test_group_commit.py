"""Writes that wait at the same time share one commit; each is answered when it is durable, and fails alone."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, select
from sqlalchemy.exc import OperationalError

from app.domain.errors import Invalid, OutcomeUnknown, Overloaded, Unavailable
from app.domain.events import StudyChanged
from app.domain.studies import Configuration, StudyState
from app.services import group_commit
from app.services.foresight import ReadAhead
from app.services.group_commit import GroupCommit
from app.services.use_cases import studies
from app.storage import ledger
from app.storage import studies as rows
from app.storage.database import Database, open_database
from app.storage.prepared import RowInsert
from app.storage.remembered_heads import read as read_heads
from app.storage.tables import idempotency
from app.storage.waiting_rows import insert_rows
from tests.conftest import OPERATOR

Work = Callable[[Connection], Any]
TOKENS = RowInsert(idempotency)


@pytest.fixture
def commits(database: Database) -> Iterator[GroupCommit]:
    with database.write() as connection:
        for name in ("s", "t"):
            studies.create(connection, OPERATOR, name, Configuration())
    commits = GroupCommit(database, threads=2, most_waiting=100)
    yield commits
    commits.close()


def note(text: str, study: str = "s") -> Work:
    """Append an event with this reason; its number."""

    def work(connection: Connection) -> int:
        locked = rows.lock(connection, study)
        assert locked is not None
        return ledger.append(connection, locked, OPERATOR, StudyChanged(StudyState.ACTIVE, Configuration()), text).seq

    return work


def refused(connection: Connection) -> None:
    """Write something, then refuse."""
    note("never")(connection)
    raise Invalid([])


def reasons(database: Database, study: str = "s") -> list[str | None]:
    with database.read() as connection:
        found = rows.find(connection, study)
        assert found is not None
        return [entry.reason for entry in ledger.read(connection, found.id)][1:]


@contextmanager
def held(database: Database, study: str = "s") -> Iterator[None]:
    """Somebody else writes to the study all the while, so that everything else waits."""
    other = open_database(database.writer.url.render_as_string(hide_password=False), connections=2)
    with other.write() as connection:
        rows.lock(connection, study)
        yield
    other.dispose()


async def all_at_once(database: Database, commits: GroupCommit, works: list[Work]) -> list[Any]:
    """The outcomes of works that wait for the same commit, behind one that goes alone."""
    with held(database):
        first = asyncio.create_task(commits.write(ReadAhead("s"), note("first")))
        await asyncio.sleep(0.2)  # it has begun
        waiting = [asyncio.create_task(commits.write(ReadAhead("s"), work)) for work in works]
        await asyncio.sleep(0)
    return await asyncio.gather(first, *waiting, return_exceptions=True)


def counted_commits(database: Database) -> list[str]:
    seen: list[str] = []
    event.listen(database.writer, "commit", lambda _connection: seen.append("commit"))
    return seen


def test_what_waits_shares_a_commit_in_the_order_of_arrival(database: Database, commits: GroupCommit) -> None:
    seen = counted_commits(database)
    answers = asyncio.run(all_at_once(database, commits, [note(f"{number}") for number in range(20)]))
    assert (answers, len(seen)) == (list(range(2, 23)), 2)
    assert reasons(database) == ["first", *(f"{number}" for number in range(20))]


def test_a_refused_write_is_undone_alone(database: Database, commits: GroupCommit) -> None:
    _, before, failed, after = asyncio.run(all_at_once(database, commits, [note("a"), refused, note("b")]))
    assert (before, after) == (3, 4)
    assert isinstance(failed, Invalid)
    assert reasons(database) == ["first", "a", "b"]


def test_a_statement_that_fails_is_undone_alone(database: Database, commits: GroupCommit) -> None:
    def broken(connection: Connection) -> None:
        note("never")(connection)
        connection.exec_driver_sql("INSERT INTO studies SELECT * FROM studies")

    _, before, failed, after = asyncio.run(all_at_once(database, commits, [note("a"), broken, note("b")]))
    assert (before, after) == (3, 4)
    assert "IntegrityError" in repr(failed)
    assert reasons(database) == ["first", "a", "b"]


def leave(token: str, *, refuse: bool = False) -> Work:
    """Leave a row to the end of the group; two of the same token cannot be."""

    def work(connection: Connection) -> str:
        insert_rows(connection, TOKENS, [("key", token, "print", 200, "{}", b"", "now")])
        if refuse:
            raise Invalid([])
        return token

    return work


def count_rows(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(idempotency)).scalar_one()


def tokens(database: Database) -> list[str]:
    with database.read() as connection:
        return sorted(connection.execute(select(idempotency.c.token)).scalars())


def test_rows_that_wait_are_seen_by_every_later_statement(database: Database, commits: GroupCommit) -> None:
    works = [leave("a"), count_rows, leave("b"), leave("c"), count_rows, note("d"), count_rows]
    _, *outcomes = asyncio.run(all_at_once(database, commits, works))
    assert outcomes == ["a", 1, "b", "c", 3, 3, 3]
    assert tokens(database) == ["a", "b", "c"]


def test_the_rows_of_a_refused_write_are_dropped_alone(database: Database, commits: GroupCommit) -> None:
    works = [leave("a"), leave("b", refuse=True), leave("c")]
    _, before, failed, after = asyncio.run(all_at_once(database, commits, works))
    assert (before, type(failed), after) == ("a", Invalid, "c")
    assert tokens(database) == ["a", "c"]


@pytest.mark.parametrize("between", [[], [count_rows], [note("x")]])
def test_a_row_that_the_database_refuses_is_the_failure_of_its_own_write(
    database: Database, commits: GroupCommit, between: list[Work]
) -> None:
    """Sent together, nobody knows whose row it was: so everything is done again, one by one, and stored once."""
    works = [leave("a"), note("n"), *between, leave("a"), leave("b")]
    _, first, noted, *others = asyncio.run(all_at_once(database, commits, works))
    *_, failed, last = others
    assert (first, noted, last) == ("a", 3, "b")
    assert "IntegrityError" in repr(failed)
    assert tokens(database) == ["a", "b"]
    assert reasons(database)[:2] == ["first", "n"]


def test_what_is_damaged_is_the_trouble_of_those_who_ask_for_it(database: Database) -> None:
    def damaged(_connection: Connection, _needs: object) -> None:
        raise ValueError("a row holds nonsense")

    own = GroupCommit(database, threads=1, most_waiting=100, foresee=damaged)
    assert asyncio.run(own.write(ReadAhead("s"), leave("a"))) == "a"
    own.close()


def lost_as_sqlalchemy_tells(connection: Connection) -> None:
    """The connection goes, and SQLAlchemy has noticed."""
    connection.invalidate()
    raise Unavailable


def lost_unnoticed(connection: Connection) -> None:
    """The server has gone; the next statement finds out."""
    connection.connection.driver_connection.close()  # type: ignore[union-attr]
    note("never")(connection)


@pytest.mark.parametrize("lose", [lost_as_sqlalchemy_tells, lost_unnoticed])
@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_connection_that_is_lost_is_told_as_that_to_the_whole_group(
    database: Database, commits: GroupCommit, lose: Work
) -> None:
    first, *others = asyncio.run(all_at_once(database, commits, [note("a"), lose, note("b")]))
    assert first == 2
    assert {type(other) for other in others} == {Unavailable}
    assert reasons(database) == ["first"]


def test_nothing_is_answered_before_it_is_durable(database: Database, commits: GroupCommit) -> None:
    """At each commit, nobody has an answer whose event another connection cannot read."""
    answered: list[int] = []
    early: list[int] = []
    looking: list[bool] = []  # on PostgreSQL the look itself ends with a commit on the same engine

    async def write(number: int) -> None:
        answered.append(await commits.write(ReadAhead("s"), note(f"{number}")))

    def check(_connection: Connection) -> None:
        if looking:
            return
        looking.append(True)
        known = 1 + len(reasons(database))
        looking.clear()
        early.extend(seq for seq in answered if seq > known)

    async def run() -> None:
        await asyncio.gather(*(write(number) for number in range(30)))

    event.listen(database.writer, "commit", check)
    asyncio.run(run())
    assert sorted(answered) == list(range(2, 32))
    assert early == []


def test_if_the_commit_fails_nobody_hears_that_it_is_stored(database: Database, commits: GroupCommit) -> None:
    def fail(_connection: Connection) -> None:
        raise OperationalError("COMMIT", None, Exception("the connection is gone"))

    event.listen(database.writer, "commit", fail)

    async def run() -> list[Any]:
        works = [note("a"), refused, note("b")]
        return await asyncio.gather(*(commits.write(ReadAhead("s"), work) for work in works), return_exceptions=True)

    answers = asyncio.run(run())
    event.remove(database.writer, "commit", fail)
    assert [type(answer) for answer in answers] == [OutcomeUnknown, Invalid, OutcomeUnknown]
    assert reasons(database) == []


def test_a_head_that_was_undone_is_not_remembered(database: Database, commits: GroupCommit, tmp_path) -> None:
    remembering = open_database(
        database.writer.url.render_as_string(hide_password=False), connections=2, heads_file=tmp_path / "heads"
    )
    own = GroupCommit(remembering, threads=1, most_waiting=100)

    async def run() -> None:
        await asyncio.gather(
            own.write(ReadAhead("s"), note("a")), own.write(ReadAhead("s"), refused), return_exceptions=True
        )

    asyncio.run(run())
    own.close()
    assert remembering.remembered is not None
    kept = heads_of(remembering)
    remembering.dispose()
    with database.read() as connection:
        found = rows.find(connection, "s")
    assert found is not None
    assert kept == {"s": (found.seq, found.head)}


def heads_of(database: Database) -> dict[str, tuple[int, str]]:
    assert database.remembered is not None
    return {head.study: (head.seq, head.hash) for head in read_heads(database.remembered.file)}


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)  # SQLite has one writer for all studies
def test_a_study_that_somebody_holds_keeps_only_its_own_reporters_waiting(
    database: Database, commits: GroupCommit
) -> None:

    async def run() -> tuple[int, bool]:
        with held(database, "s"):
            waiting = asyncio.create_task(commits.write(ReadAhead("s"), note("a")))
            await asyncio.sleep(0.05)
            other = await commits.write(ReadAhead("t"), note("b", "t"))
            is_waiting = not waiting.done()
        await waiting
        return other, is_waiting

    assert asyncio.run(run()) == (2, True)


def test_a_long_line_is_refused(database: Database, commits: GroupCommit) -> None:
    short = GroupCommit(database, threads=1, most_waiting=2)

    async def run() -> list[Any]:
        with held(database):
            writes = [asyncio.create_task(short.write(ReadAhead("s"), note(f"{number}"))) for number in range(5)]
            await asyncio.sleep(0.1)
        return await asyncio.gather(*writes, return_exceptions=True)

    answers = asyncio.run(run())
    short.close()
    assert any(isinstance(answer, Overloaded) for answer in answers)
    assert [answer for answer in answers if isinstance(answer, int)] == list(range(2, 2 + len(reasons(database))))


def test_a_write_that_waited_too_long_is_refused(
    database: Database, commits: GroupCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MOST_SECONDS", -1.0)
    with pytest.raises(Overloaded):
        asyncio.run(commits.write(ReadAhead("s"), note("a")))
    assert reasons(database) == []
