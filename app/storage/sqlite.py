"""SQLite as we need it: durable, one writer per process, and a build without the WAL-reset bug."""

import sqlite3
from types import ModuleType
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event

SAFE_VERSION = (3, 51, 3)  # earlier ones may lose a WAL reset when several connections write
BUSY_MILLISECONDS = 15_000


def driver() -> ModuleType:
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


def engines(url: URL, readers: int) -> tuple[Engine, Engine]:
    """One engine to read with, one to write with: the writer has a single connection and begins IMMEDIATE."""
    reader = _engine(url, pool_size=readers, begin="BEGIN")
    writer = _engine(url, pool_size=1, begin="BEGIN IMMEDIATE")
    return reader, writer


def _engine(url: URL, pool_size: int, begin: str) -> Engine:
    engine = create_engine(
        url,
        module=driver(),
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=BUSY_MILLISECONDS / 1000,
        connect_args={"check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", lambda connection: _begin(connection, begin))
    return engine


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
