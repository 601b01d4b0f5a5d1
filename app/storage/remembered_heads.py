"""The newest heads, remembered in a small file outside the database.

SQLite drops, without a word, everything in its write-ahead log after a damaged frame. This file tells at the next start
that something is missing. It is written after each commit and synced once a second by a thread, so a write costs a few
system calls and never waits for the disk; docs/decisions/0023-heads-outside.md says what follows from that.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import sleep

import structlog

from app.domain.codec import canonical, read_json
from app.domain.heads import Head

try:
    import fcntl
except ImportError:  # not on every platform: there, processes may overwrite a newer head by an older one
    fcntl = None  # type: ignore[assignment]

RECORD = 256  # bytes: a study's name, a number and a hash fit
SYNC_SECONDS = 1.0


class RememberedHeads:
    """One record per study, each at its own place in the file, which all processes of a server share."""

    def __init__(self, file: Path) -> None:
        self.file = file
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        self._lock = threading.Lock()
        self._unsynced = threading.Event()
        self._closed = False
        threading.Thread(target=self._sync_forever, daemon=True).start()

    def remember(self, heads: Mapping[int, Head]) -> None:
        """Remember heads that were just committed. It never raises: what is committed is committed."""
        try:
            for study_id, head in heads.items():
                with self._locked(study_id * RECORD):
                    self._write(study_id * RECORD, head)
        except OSError:
            structlog.get_logger().exception("the newest heads could not be remembered", file=str(self.file))

    def every(self) -> dict[int, Head]:
        """The heads in the file, by the id of the study."""
        return dict(_numbered(self.file))

    def close(self) -> None:
        self._closed = True
        self._unsynced.set()
        with self._lock, suppress(OSError):
            os.fsync(self._descriptor)
            os.close(self._descriptor)

    def _write(self, place: int, head: Head) -> None:
        before = _head(os.pread(self._descriptor, RECORD, place))
        if before is None or before.seq < head.seq:  # another process may have committed a later one
            os.pwrite(self._descriptor, _record(head), place)
            self._unsynced.set()

    @contextmanager
    def _locked(self, place: int) -> Iterator[None]:
        with self._lock:
            if fcntl is not None:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX, RECORD, place)
            try:
                yield
            finally:
                if fcntl is not None:
                    fcntl.lockf(self._descriptor, fcntl.LOCK_UN, RECORD, place)

    def _sync_forever(self) -> None:
        while self._unsynced.wait() and not self._closed:
            self._unsynced.clear()
            with suppress(OSError):
                os.fsync(self._descriptor)
            sleep(SYNC_SECONDS)


def read(file: Path) -> list[Head]:
    """The heads in a file; records that are torn or damaged are left out."""
    return [head for _, head in _numbered(file)]


def _numbered(file: Path) -> Iterator[tuple[int, Head]]:
    """Each head after the id of its study."""
    with suppress(FileNotFoundError):
        content = file.read_bytes()
        for study_id, place in enumerate(range(0, len(content), RECORD)):
            head = _head(content[place : place + RECORD])
            if head is not None:
                yield study_id, head


def _record(head: Head) -> bytes:
    text = canonical([head.study, head.seq, head.hash])
    return f"{_checksum(text)} {text}".encode().ljust(RECORD - 1) + b"\n"


def _head(record: bytes) -> Head | None:
    with suppress(ValueError, TypeError):
        checksum, _, text = record.decode().strip().partition(" ")
        return Head(*read_json(text)) if checksum == _checksum(text) else None
    return None


def _checksum(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]
