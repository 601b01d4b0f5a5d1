"""The processes that write to one SQLite file take turns.

A process that finds SQLite's lock taken looks again after up to 100 ms, so a busy process can keep another one waiting
for seconds. Here, whoever wants to write first takes the place of the next in line, and keeps it until it is its turn:
a process that has just written queues behind it. Only fairness depends on this; SQLite's own lock is what protects.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from app.domain.errors import DatabaseBusy

try:
    import fcntl
except ImportError:  # not on every platform
    fcntl = None  # type: ignore[assignment]

NEXT, NOW = 0, 1  # bytes of the file, each the place of one process
PAUSE = 0.0003


class WriterTurns:
    """One file beside the database, in which processes lock bytes. A process has one writer at a time."""

    def __init__(self, database: Path, seconds: float) -> None:
        self._file = Path(f"{database}-turn")
        self._seconds = seconds
        self._descriptor: int | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for this process's turn, at most so many seconds as SQLite itself would."""
        if not self._is_open():
            yield
            return
        deadline = monotonic() + self._seconds
        self._take(NEXT, deadline)
        try:
            self._take(NOW, deadline)
        finally:
            self._leave(NEXT)
        try:
            yield
        finally:
            self._leave(NOW)

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _is_open(self) -> bool:
        if fcntl is not None and self._descriptor is None:
            with suppress(OSError):  # a folder that cannot be written: SQLite tells what is wrong
                self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        return self._descriptor is not None

    def _take(self, place: int, deadline: float) -> None:
        """Look again and again: a lock that waits would wait forever for a process that was stopped."""
        while True:
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)  # type: ignore[arg-type]
            except BlockingIOError:
                if monotonic() > deadline:
                    raise DatabaseBusy from None
                sleep(PAUSE)
            else:
                return

    def _leave(self, place: int) -> None:
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, place)  # type: ignore[arg-type]
