"""The zip file of an archive, which is expanded only as far as its contents can be meant.

Everything is bounded before it is expanded: the directory of the file by its bytes, each member by the size that its
header states, and the sum of the sizes by what the server accepts. A member never unpacks to more than its header says.
"""

import io
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from app.arrays import Array
from app.deadline import check_deadline
from app.domain.codec import Unreadable
from app.domain.limits import MOST_LEDGER_BYTES
from app.services.memory import PER_ARRAY_BYTE, PER_LEDGER_BYTE
from app.storage import blobs

LEDGER = "ledger.jsonl"
MOST_MEMBERS = 50_000
MOST_READ_BYTES = 8 * 2**20  # at a time: the directory is read at once, and 50,000 members take about this much
MOST_SMALL_BYTES = 10_000  # of the manifest and of the signature
NPY_HEADER_BYTES = 256  # more than the header of a plain array takes
_PIECE = 2**20
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Impossible(ValueError):
    """Something in an archive that this program would never have written."""


def must(condition: object, message: str) -> None:
    """Refuse the archive unless the condition holds."""
    if not condition:
        raise Impossible(message)


@contextmanager
def opened(path: Path, most_bytes: int) -> Iterator[zipfile.ZipFile]:
    """The zip file, if its directory and the sizes of its members are within bounds."""
    with path.open("rb") as content, zipfile.ZipFile(_SmallReads(content)) as file:
        _refuse_bombs(file.infolist(), most_bytes)
        yield file


def memory_to_read(file: zipfile.ZipFile) -> int:
    """About how many bytes of memory it takes to read and check all of it, from the sizes of what it unpacks to."""
    ledger = sum(member.file_size for member in file.infolist() if member.filename == LEDGER)
    arrays = sum(member.file_size for member in file.infolist() if member.filename.startswith("arrays/"))
    return PER_LEDGER_BYTE * ledger + PER_ARRAY_BYTE * arrays


def small_text(file: zipfile.ZipFile, name: str) -> str:
    """A small member. No more of it is unpacked than allowed, whatever its header says."""
    with file.open(name) as member:
        content = member.read(MOST_SMALL_BYTES + 1)
    must(len(content) <= MOST_SMALL_BYTES, f"{name} is too long.")
    return content.decode()


class ArchivedArrays(Mapping[str, Array]):
    """The arrays that the events of an archive name. Each is unpacked when it is read, and not kept."""

    def __init__(self, file: zipfile.ZipFile, digests: Collection[str]) -> None:
        self._file = file
        self._digests = sorted(digests)

    def __iter__(self) -> Iterator[str]:
        return iter(self._digests)

    def __len__(self) -> int:
        return len(self._digests)

    def size(self, digest: str) -> int:
        """The bytes that the file of an array unpacks to at the most."""
        return self._member(digest).file_size

    def __getitem__(self, digest: str) -> Array:
        array = _array(self._unpacked(self._member(digest)))
        must(blobs.name(array) == digest, "The bytes of an array do not match its name.")
        return array

    def _member(self, digest: str) -> zipfile.ZipInfo:
        return self._file.getinfo(f"arrays/{digest}.npy")

    def _unpacked(self, member: zipfile.ZipInfo) -> bytearray:
        content = bytearray()
        with self._file.open(member) as file:
            while piece := file.read(_PIECE):
                check_deadline()
                content += piece
        return content


class _SmallReads(io.BufferedIOBase):
    """A file of which only so much is read at a time: the directory of a zip file may be of any size."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int | None = -1, /) -> bytes:
        limited = MOST_READ_BYTES + 1 if size is None or size < 0 else size
        if limited <= MOST_READ_BYTES + 1:
            content = self._file.read(limited)
            if len(content) <= MOST_READ_BYTES:
                return content
        raise Impossible("It has too many files.")

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def _refuse_bombs(members: list[zipfile.ZipInfo], most_bytes: int) -> None:
    must(len(members) <= MOST_MEMBERS, "It has too many files.")
    must(sum(member.file_size for member in members) <= most_bytes, "It unpacks to more than this server accepts.")
    ledger = sum(member.file_size for member in members if member.filename == LEDGER)
    must(ledger <= MOST_LEDGER_BYTES, f"Its events take more than {MOST_LEDGER_BYTES >> 20} MB.")
    must(all(member.compress_type in _COMPRESSIONS for member in members), "Its files must be stored or deflated.")
    must(len({member.filename for member in members}) == len(members), "Two of its files have the same name.")


def _array(content: bytearray) -> Array:
    """An array from `.npy` bytes. Its size is that of the bytes, whatever the header says."""
    file = io.BytesIO(content[:NPY_HEADER_BYTES])
    if np.lib.format.read_magic(file) != (1, 0):
        raise Unreadable("another version of the format")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    if fortran_order or dtype.hasobject:
        raise Unreadable("not a plain array")
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)
