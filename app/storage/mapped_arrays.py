"""Large arrays as files named by their digests, which the processes of a machine map: memory that they share.

The files are a cache beside the database, which has every array. A file that is damaged or missing is written again; if
none can be written, the array is read into memory as before. Every byte of a file is looked at when the file is first
mapped, and again after a week. Between, a note beside it says as what the system knows the file that was looked at: its
times change with anything that is written to it.
"""

import os
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time

import structlog
from sqlalchemy import Connection

from app.arrays import Array
from app.storage import blobs
from app.storage.blobs import DamagedBlob

LARGE = 16 * 2**20  # bytes of an array that is worth a file
UNFINISHED = ".unfinished-"
CHECKED = ".checked"  # the end of a note's name
OLD_SECONDS = 3600.0
NOTED_SECONDS = 7 * 86400.0  # for which a note counts
SETTLED_SECONDS = 2.0  # a file may change twice within a tick of its clock, so a note of a younger one says nothing
_DIGEST = re.compile(r"[0-9a-f]{64}")


class MappedArrays:
    """The files of a folder, which is created when it is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, connection: Connection, digest: str) -> Array | None:
        """The array, mapped; None if it is too small for a file, or if no file can be written."""
        if blobs.size_of(connection, digest) < LARGE:
            return None
        path = self._folder / digest
        try:
            with suppress(FileNotFoundError, DamagedBlob):
                return _open_checked(connection, digest, path)
            self._write(connection, digest, path)
            return blobs.open_copy(connection, digest, path, is_checked=True)  # as it was written
        except OSError as error:
            structlog.get_logger().warning("a large array is not kept as a file", error=repr(error))
            return None

    def keep_only(self, digests: Collection[str]) -> int:
        """Delete the files of all other arrays, and old unfinished ones; how many there were. Other files stay."""
        paths = list(self._folder.iterdir()) if self._folder.is_dir() else []
        abandoned = [path for path in paths if path.name.startswith(UNFINISHED) and _is_old(path)]
        named = [(path, path.name.removesuffix(CHECKED)) for path in paths]
        unneeded = [path for path, name in named if _DIGEST.fullmatch(name) and name not in digests]
        for path in abandoned + unneeded:
            path.unlink(missing_ok=True)
        return len(abandoned) + len(unneeded)

    def _write(self, connection: Connection, digest: str, path: Path) -> None:
        """All of it or nothing, whoever writes it at the same time."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=self._folder, prefix=UNFINISHED, delete=False) as file:
            try:
                blobs.copy(connection, digest, file)
                file.flush()
                os.replace(file.name, path)  # noqa: PTH105
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise


def _open_checked(connection: Connection, digest: str, path: Path) -> Array:
    """The array in a file; every byte of it is looked at unless that was done before."""
    note, known_as = path.with_name(f"{digest}{CHECKED}"), _known_as(path)
    with suppress(FileNotFoundError):
        if note.stat().st_mtime > time() - NOTED_SECONDS and note.read_text() == known_as:
            return blobs.open_copy(connection, digest, path, is_checked=True)
    array = blobs.open_copy(connection, digest, path)
    if path.stat().st_ctime < time() - SETTLED_SECONDS and _known_as(path) == known_as:
        with suppress(OSError):  # it is checked again the next time
            note.write_text(known_as)
    return array


def _known_as(path: Path) -> str:
    """As what the system knows a file; it is another word after anything is written to it."""
    known = path.stat()
    return f"{known.st_dev} {known.st_ino} {known.st_size} {known.st_mtime_ns} {known.st_ctime_ns}"


def _is_old(path: Path) -> bool:
    """Whether nobody writes it any more."""
    with suppress(FileNotFoundError):
        return path.stat().st_mtime < time() - OLD_SECONDS
    return False
