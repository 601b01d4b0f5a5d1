"""Arrays as the rest of the program reads them: cached, and with columns of text packed into two plain arrays.

`ends[i]` is where row i ends in `content` (UTF-8). A missing text is the single byte 0xFF, which no UTF-8 contains. An
index finds the row of a text without reading them all.
"""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from threading import Lock

import numpy as np
from sqlalchemy import Connection

from app.arrays import Array
from app.domain.candidates import CandidateBlock
from app.storage import blobs

_MISSING = b"\xff"


class ArrayCache:
    """The most recently used arrays, up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._arrays: OrderedDict[str, Array] = OrderedDict()
        self.blocks: dict[int, tuple[int, tuple[CandidateBlock, ...]]] = {}  # of each study, at a version
        self._lock = Lock()  # guards the book-keeping; loading one blob twice is harmless

    def load(self, connection: Connection, digest: str) -> Array:
        """The array, read-only, from memory or from the database."""
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


def pack_strings(texts: Sequence[str | None]) -> tuple[Array, Array]:
    """`(ends, content)` of the texts."""
    pieces = [_MISSING if text is None else text.encode() for text in texts]
    ends = np.cumsum([len(piece) for piece in pieces], dtype="<i8")
    return ends.astype("<i8", copy=False), np.frombuffer(b"".join(pieces), dtype="|u1")


def unpack_strings(ends: Array, content: Array, rows: Sequence[int] | Array) -> list[str | None]:
    """The texts of some rows."""
    return [_text(ends, content, int(row)) for row in rows]


def index_strings(texts: Sequence[str]) -> tuple[Array, Array]:
    """`(hashes, rows)`: the 64-bit hashes of the texts in rising order, and the row of each."""
    hashes = np.array([_hash(text) for text in texts], dtype="<u8")
    order = np.argsort(hashes, kind="stable")
    return hashes[order], order.astype("<i4")


def find_string(hashes: Array, rows: Array, ends: Array, content: Array, text: str) -> int | None:
    """The row that holds exactly `text`."""
    target = np.uint64(_hash(text))
    first, last = np.searchsorted(hashes, target, "left"), np.searchsorted(hashes, target, "right")
    return next((int(row) for row in rows[first:last] if _text(ends, content, int(row)) == text), None)


def _text(ends: Array, content: Array, row: int) -> str | None:
    piece = content[int(ends[row - 1]) if row else 0 : int(ends[row])].tobytes()
    return None if piece == _MISSING else piece.decode()


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
