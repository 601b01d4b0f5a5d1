"""Temporary folders: deleted when they are no longer needed; those that a killed process left, by the next server.

Whoever uses a folder holds a lock on it, which the system gives up when the process ends, however it ends.
"""

import os
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from time import time
from typing import Self
from weakref import finalize

try:
    import fcntl
except ImportError:  # pragma: no cover  (not on Windows, where nothing is swept)
    fcntl = None  # type: ignore[assignment]

PREFIX = "nextbatch-locked-"
YOUNG_SECONDS = 5.0  # a folder that has just been made may not be locked yet


class TemporaryFolder:
    """A new folder that only this user can read; it is deleted by `discard`, or when nobody refers to it any more."""

    def __init__(self, prefix: str = PREFIX) -> None:
        self.path = Path(mkdtemp(prefix=prefix))
        self._delete = finalize(self, _delete, self.path, _lock(self.path))

    def discard(self) -> None:
        """Delete it; once is enough."""
        self._delete()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.discard()


def delete_abandoned(prefix: str = PREFIX) -> None:
    """Delete the folders whose processes were killed."""
    for folder in Path(gettempdir()).glob(f"{prefix}*/"):
        with suppress(OSError):  # it is in use, belongs to another user, or has just been deleted
            if folder.stat().st_mtime < time() - YOUNG_SECONDS and folder.stat().st_uid == os.getuid():
                descriptor = _lock(folder)
                if descriptor is not None:
                    _delete(folder, descriptor)


def _lock(folder: Path) -> int | None:
    """What holds the lock on a folder; raises `BlockingIOError` if another process does."""
    if fcntl is None:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _delete(folder: Path, descriptor: int | None) -> None:
    rmtree(folder, ignore_errors=True)
    if descriptor is not None:
        os.close(descriptor)
