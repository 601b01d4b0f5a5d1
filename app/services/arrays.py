"""Arrays read from the database, kept in memory while there is room.

A blob is named by its content, so what is cached is right in every process, forever.
"""

from collections import OrderedDict
from threading import Lock
from typing import Any

from numpy.typing import NDArray
from sqlalchemy import Connection

from app.storage import blobs

Array = NDArray[Any]


class ArrayCache:
    """The most recently used arrays, up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._arrays: OrderedDict[str, Array] = OrderedDict()
        self._lock = Lock()  # guards the book-keeping alone; two loads of one blob are harmless

    def load(self, connection: Connection, digest: str) -> Array:
        with self._lock:
            if digest in self._arrays:
                self._arrays.move_to_end(digest)
                return self._arrays[digest]
        array = blobs.load(connection, digest)
        array.flags.writeable = False
        self._keep(digest, array)
        return array

    def _keep(self, digest: str, array: Array) -> None:
        with self._lock:
            if digest in self._arrays or array.nbytes > self._most_bytes:
                return
            self._arrays[digest] = array
            self._bytes += array.nbytes
            while self._bytes > self._most_bytes:
                _, oldest = self._arrays.popitem(last=False)
                self._bytes -= oldest.nbytes
