"""The file of a SQLite database: it stays in place, only its owner reads it, and nobody replaces it while it is used.

SQLite goes on writing into a file that was moved or deleted, and everything written there is lost. So each write looks
whether the file under the name is still the one that was opened, before it begins and after it was committed.

A copy can also be written into the same file. In WAL mode only checkpoints change the file, so whenever its time or
size has changed, a new connection, which has nothing cached, looks whether the newest heads are still there.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import Connection

from app.domain.errors import DatabaseReplaced, Unavailable
from app.domain.heads import Head

try:
    import fcntl
except ImportError:  # not on every platform
    fcntl = None  # type: ignore[assignment]

Identity = tuple[int, int]  # device and inode
Change = tuple[int, int, int]  # size, and when the contents and the attributes were last changed
OVERWRITTEN = "Another copy was written over the database file under the running server. Restart the server."
MOST_HEADS = 100  # that are looked for
_LOG = "identity of the log"  # in the `info` of a connection
_OF_STUDY = "SELECT hash FROM events WHERE study_id = ? AND seq = ?"
_OF_AUDIT = "SELECT hash FROM audit WHERE seq = ?"


class DatabaseFile:
    """Which file is open under the name, and what it must hold. A process opens it once and keeps it open."""

    def __init__(self, file: Path, driver: ModuleType, first_heads: Callable[[], Mapping[int, Head]] = dict) -> None:
        self.file = file
        self._log = Path(f"{file}-wal")
        self._driver = driver  # the one that the engines use: two in one process would drop each other's locks
        self._first_heads = first_heads  # to look for while this process has committed none
        self._heads: dict[int, Head] = {}  # of the last studies that this process wrote to, and of the audit log
        self._opened: Identity | None = None
        self._changed: Change | None = None
        self._is_overwritten = False
        self._lock: int | None = None

    def must_be_in_place(self) -> None:
        """Raise if the file was moved, deleted, replaced or overwritten since it was first seen."""
        found = _stat(self.file)
        identity = None if found is None else (found.st_dev, found.st_ino)
        if self._opened is None:
            self._opened = identity
        if identity != self._opened:
            raise DatabaseReplaced
        if found is not None:
            self._must_have_kept_heads((found.st_size, found.st_mtime_ns, found.st_ctime_ns))

    def note_heads(self, heads: Mapping[int, Head]) -> None:
        """Heads that this process has committed, by the id of the study."""
        for study_id, head in heads.items():
            self._heads.pop(study_id, None)
            self._heads[study_id] = head
        while len(self._heads) > MOST_HEADS:
            del self._heads[next(iter(self._heads))]

    def _must_have_kept_heads(self, changed: Change) -> None:
        if self._changed is None:
            self._changed = changed
        if not self._is_overwritten and changed != self._changed:
            # a copy: other threads go on committing
            self._is_overwritten = not self._has_kept(dict(self._heads) or self._first_heads())
            self._changed = changed
        if self._is_overwritten:  # for good: whatever this process has cached is of another file
            raise DatabaseReplaced(OVERWRITTEN)

    def _has_kept(self, heads: Mapping[int, Head]) -> bool:
        """Whether a connection that has nothing cached finds these heads."""
        try:
            with closing(self._driver.connect(f"{self.file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                found = {study_id: _hash_at(connection, study_id, head.seq) for study_id, head in heads.items()}
        except self._driver.OperationalError as error:  # it cannot be opened or is locked, so nobody knows
            if "no such table" in str(error):
                return False
            raise Unavailable from error
        except self._driver.DatabaseError:
            return False
        return all(found[study_id] == head.hash for study_id, head in heads.items())

    def log_must_be_in_place(self, connection: Connection) -> None:
        """The same for the write-ahead log of a connection, which lasts as long as the connection does."""
        found = _identity(self._log)
        if connection.info.setdefault(_LOG, found) != found and connection.info[_LOG] is not None:
            raise DatabaseReplaced
        connection.info[_LOG] = found

    def share(self) -> None:
        """Tell, until this process ends or `release`, that the file is in use."""
        if fcntl is not None and self._lock is None:
            self._lock = os.open(_lock_file(self.file), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(self._lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                self.release()
                raise RuntimeError(f"{self.file} is being restored. Start the server when that is done.") from None

    def release(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


@contextmanager
def unused(file: Path) -> Iterator[None]:
    """Keep every server away from the file; raises if one uses it."""
    descriptor = os.open(_lock_file(file), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise RuntimeError(f"A server uses {file}. Stop it first.") from None
    finally:
        os.close(descriptor)


def make_private(file: Path) -> None:
    """Let only the owner read the database and its logs, in whatever folder they are; SQLite's logs take its mode."""
    with suppress(OSError):  # SQLite itself tells what is wrong
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    for part in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
        with suppress(OSError):  # a file of somebody else is theirs to protect
            if part.stat().st_mode & 0o077:
                part.chmod(0o600)


def _lock_file(file: Path) -> Path:
    return Path(f"{file}-lock")


def _identity(file: Path) -> Identity | None:
    found = _stat(file)
    return None if found is None else (found.st_dev, found.st_ino)


def _stat(file: Path) -> os.stat_result | None:
    try:
        return os.stat(file)  # noqa: PTH116  (several times for each write, and `Path.stat` takes twice as long)
    except OSError:
        return None


def _hash_at(connection: Any, study_id: int, seq: int) -> str | None:
    """The hash of an entry in the ledger of a study, or in the audit log, whose id is 0."""
    query, place = (_OF_STUDY, (study_id, seq)) if study_id else (_OF_AUDIT, (seq,))
    found = connection.execute(query, place).fetchone()
    return None if found is None else str(found[0])
