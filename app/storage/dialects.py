"""Where the two databases differ: how we connect to them, how they lock, and how they insert.

SQLite must be durable, with one writer per process and a build without the WAL-reset bug. PostgreSQL must keep what it
acknowledged.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, QueuePool, Table, create_engine, event
from sqlalchemy.dialects import postgresql, sqlite

from app.storage.prepared import Prepared, send_waiting

T = TypeVar("T")

SAFE_VERSION = (3, 51, 3)  # earlier ones may lose data in a WAL reset when several connections write
BUSY_MILLISECONDS = 15_000
IN_LIMIT = 500  # values in one IN (…): below the limit of either database

_INSERTS: Mapping[str, Callable[[Table], Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


class Lock(IntEnum):
    """The advisory locks of this program: arbitrary numbers, the same in every process."""

    MIGRATION = 7_026_112_016
    BLOBS = 7_026_112_017
    AUDIT = 7_026_112_018


def sqlite_driver() -> ModuleType:
    """The newest SQLite at hand: the platform's, else the one bundled with `pysqlite3`."""
    candidates: list[ModuleType] = [sqlite3]
    try:
        from pysqlite3 import dbapi2  # noqa: PLC0415  (not on every platform)

        candidates.append(dbapi2)
    except ImportError:
        pass
    newest = max(candidates, key=lambda module: module.sqlite_version_info)
    if newest.sqlite_version_info < SAFE_VERSION:
        raise RuntimeError(
            f"SQLite {newest.sqlite_version} can lose data with several writers; "
            f"{'.'.join(map(str, SAFE_VERSION))} or newer is needed (or PostgreSQL: set NEXTBATCH_DATABASE_URL)."
        )
    return newest


def sqlite_engines(url: URL, readers: int, check: Callable[[], None]) -> tuple[Engine, Engine]:
    """One engine to read with, one to write with: the writer has a single connection and begins IMMEDIATE.

    `check` is called before each connection: without it, SQLite would make an empty file in the place of a lost one.
    """
    reader = _sqlite_engine(url, pool_size=readers, begin="BEGIN")
    writer = _sqlite_engine(url, pool_size=1, begin="BEGIN IMMEDIATE")
    for engine in (reader, writer):
        event.listen(engine, "do_connect", lambda *_: check())
    return reader, writer


def postgresql_engines(url: URL, connections: int) -> tuple[Engine, Engine]:
    """One pool. Reads see one snapshot; writes see what is committed and lock the rows they change."""
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=connections,
        max_overflow=0,
        pool_timeout=15,
        pool_pre_ping=True,
        connect_args={"connect_timeout": 5, "options": "-c lock_timeout=15000 -c statement_timeout=60000"},
    )
    _send_before_statements(engine)
    reader = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return reader, engine


def refuse_unsafe(engine: Engine) -> None:
    """Do not start on a server that acknowledges a commit before it is on the disk."""
    with engine.connect() as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            if connection.exec_driver_sql(f"SHOW {name}").scalar_one() == "off":
                raise RuntimeError(
                    f"PostgreSQL runs with {name} = off, so acknowledged results could be lost. Turn it on."
                )


def hold(connection: Connection, lock: Lock, *, shared: bool = False) -> None:
    """Hold a lock until the transaction ends. SQLite needs none: it has one writer at a time."""
    if connection.dialect.name == "postgresql":
        suffix = "_shared" if shared else ""
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock{suffix}({lock.value})")


def insert_if_absent(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless its key exists; whether it was inserted."""
    statement = _insert_returning(connection.dialect.name, table, tuple(row))
    return bool(statement.tuples(connection, row))


def insert_missing(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert those rows whose keys do not exist."""
    if rows:
        connection.execute(_insert(connection.dialect.name, table), rows)


def in_parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items, as many at a time as one query takes."""
    return (items[start : start + IN_LIMIT] for start in range(0, len(items), IN_LIMIT))


@cache
def _insert(dialect: str, table: Table) -> Any:
    return _INSERTS[dialect](table).on_conflict_do_nothing()


@cache
def _insert_returning(dialect: str, table: Table, columns: tuple[str, ...]) -> Prepared:
    return Prepared(_insert(dialect, table).returning(table.primary_key.columns[0]), columns)


def _sqlite_engine(url: URL, pool_size: int, begin: str) -> Engine:
    engine = create_engine(
        url,
        module=sqlite_driver(),
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=BUSY_MILLISECONDS / 1000,
        connect_args={"check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare)
    _send_before_statements(engine)
    event.listen(engine, "begin", lambda connection: _begin(connection, begin))
    return engine


def _send_before_statements(engine: Engine) -> None:
    """Statements of SQLAlchemy, like the prepared ones, see every row that waits."""
    event.listen(engine, "before_cursor_execute", lambda connection, *_: send_waiting(connection))


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are ours, not the driver's
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")  # first: the next line may have to wait
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement)
