"""Arrays as the rest of the program reads them: from memory, from mapped files, or from the database."""

from collections import OrderedDict
from threading import Lock

from sqlalchemy import Connection

from app.arrays import Array
from app.domain.candidates import CandidateBlock
from app.storage import blobs
from app.storage.mapped_arrays import MappedArrays

MOST_MAPPED = 256


class ArrayCache:
    """The most recently used arrays, up to a number of bytes, and the mapped files of large ones."""

    def __init__(self, most_bytes: int, files: MappedArrays | None = None) -> None:
        self._most_bytes = most_bytes
        self._files = files
        self._mapped: OrderedDict[str, Array] = OrderedDict()
        self._bytes = 0
        self._arrays: OrderedDict[str, Array] = OrderedDict()
        self.blocks: dict[int, tuple[int, tuple[CandidateBlock, ...]]] = {}  # of each study, at a version
        self._lock = Lock()  # guards the book-keeping; loading one blob twice is harmless

    @property
    def nbytes(self) -> int:
        return self._bytes

    def load(self, connection: Connection, digest: str) -> Array:
        """The array, read-only, from memory or from the database."""
        with self._lock:
            for arrays in (self._arrays, self._mapped):
                if digest in arrays:
                    arrays.move_to_end(digest)
                    return arrays[digest]
        mapped = self._files.load(connection, digest) if self._files is not None else None
        if mapped is not None:
            self._keep_mapped(digest, mapped)
            return mapped
        array = blobs.load(connection, digest)
        array.flags.writeable = False
        self._keep(digest, array)
        return array

    def _keep_mapped(self, digest: str, array: Array) -> None:
        """The system gives the memory of a mapped file back when it is short, so only their number is limited."""
        with self._lock:
            self._mapped[digest] = array
            while len(self._mapped) > MOST_MAPPED:
                self._mapped.popitem(last=False)

    def _keep(self, digest: str, array: Array) -> None:
        with self._lock:
            if digest in self._arrays or array.nbytes > self._most_bytes:
                return
            self._arrays[digest] = array
            self._bytes += array.nbytes
            while self._bytes > self._most_bytes:
                _, oldest = self._arrays.popitem(last=False)
                self._bytes -= oldest.nbytes
