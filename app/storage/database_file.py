"""The file of a SQLite database: it stays in place, only its owner reads it, and nobody replaces it while it is used.

SQLite goes on writing into a file that was moved or deleted, and everything written there is lost. So each write looks
whether the file under the name is still the one that was opened, before it begins and after it was committed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import Connection

from app.domain.errors import DatabaseReplaced

try:
    import fcntl
except ImportError:  # not on every platform
    fcntl = None  # type: ignore[assignment]

Identity = tuple[int, int]  # device and inode
_LOG = "identity of the log"  # in the `info` of a connection


class DatabaseFile:
    """Which file is open under the name. A process opens it once and keeps it open."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._opened: Identity | None = None
        self._lock: int | None = None

    def must_be_in_place(self) -> None:
        """Raise if the file was moved, deleted or replaced since it was first seen."""
        found = _identity(self.file)
        if self._opened is None:
            self._opened = found
        elif found != self._opened:
            raise DatabaseReplaced

    def log_must_be_in_place(self, connection: Connection) -> None:
        """The same for the write-ahead log of a connection, which lasts as long as the connection does."""
        found = _identity(Path(f"{self.file}-wal"))
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
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
