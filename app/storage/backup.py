"""Copy a SQLite database while it is in use, and restore a copy. PostgreSQL has its own tools for this."""

import os
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import make_url

from app.domain.audit import AUDIT_LOG
from app.domain.heads import Head, HeadCheck, HeadState
from app.storage import database_file, dialects, heads
from app.storage.database import open_database

PAGES = 1_000

Tell = Callable[[int, int], None]


def copy(address: str, target: Path, tell: Tell | None = None) -> None:
    """Make one consistent copy at `target` while others write. The file appears when it is complete."""
    source = _file(address, "pg_dump --format=custom --file=FILE")
    if not source.is_file():
        raise FileNotFoundError(f"There is no database at {source}.")
    unfinished = target.with_name(f".{target.name}.part")
    unfinished.unlink(missing_ok=True)
    _copy(source, unfinished, tell)
    _publish(unfinished, target)


def restore(copied: Path, address: str) -> None:
    """Make a copy the database, if there is none yet; a damaged copy is refused."""
    target = _file(address, "pg_restore --clean --if-exists")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with database_file.unused(target):
        _restore(copied, target)


def _restore(copied: Path, target: Path) -> None:
    for file in (target, target.with_name(f"{target.name}-wal")):
        if file.exists():
            raise FileExistsError(f"{file} exists already and is not overwritten. Move it away first.")
    _must_be_sound(copied)
    unfinished = target.with_name(f".{target.name}.part")
    unfinished.unlink(missing_ok=True)
    _copy(copied, unfinished)
    _publish(unfinished, target)


def heads_of(copied: Path) -> list[Head]:
    """The newest heads in a copy, which nothing is written to."""
    connection = dialects.sqlite_driver().connect(f"{copied.resolve().as_uri()}?immutable=1", uri=True)
    try:
        rows = connection.execute("SELECT name, seq, head FROM studies ORDER BY id").fetchall()
        entries = connection.execute("SELECT ?, seq, hash FROM audit ORDER BY seq DESC LIMIT 1", [AUDIT_LOG]).fetchall()
    finally:
        connection.close()
    return [Head(*row) for row in (*rows, *entries)]


def lacking(address: str, remembered: list[Head]) -> list[HeadCheck]:
    """Those of some heads that a database does not have."""
    database = open_database(address, connections=1)
    try:
        with database.read() as connection:
            return [check for check in heads.check(connection, remembered) if check.state is not HeadState.KEPT]
    finally:
        database.dispose()


def _file(address: str, tool: str) -> Path:
    url = make_url(address)
    if url.get_backend_name() != "sqlite" or not url.database:
        raise RuntimeError(f"This is a PostgreSQL database. Use its own tools, such as `{tool}`.")
    return Path(url.database)


def _copy(source: Path, target: Path, tell: Tell | None = None) -> None:
    """The driver's online backup, inside one reading transaction; without one it starts over at every write."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL, 0o600))
    connect = dialects.sqlite_driver().connect
    reading, writing = connect(source, isolation_level=None), connect(target)
    try:
        reading.execute("BEGIN")
        reading.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the snapshot is taken by the first read
        progress = None if tell is None else lambda _status, left, total: tell(total - left, total)
        reading.backup(writing, pages=PAGES, progress=progress, sleep=0)
    finally:
        writing.close()
        reading.close()


def _must_be_sound(copied: Path) -> None:
    connection = dialects.sqlite_driver().connect(f"{copied.resolve().as_uri()}?immutable=1", uri=True)
    try:
        verdict = connection.execute("PRAGMA integrity_check").fetchone()[0]
    except dialects.sqlite_driver().DatabaseError as error:
        verdict = str(error)
    finally:
        connection.close()
    if verdict != "ok":
        raise RuntimeError(f"{copied} is not a sound SQLite database: {verdict}")


def _publish(unfinished: Path, target: Path) -> None:
    """Give the complete file its name, durably, and only if that name is free."""
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    os.link(unfinished, target)
    unfinished.unlink()
    folder = os.open(target.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
