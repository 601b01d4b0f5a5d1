"""Columns of text as two plain arrays, and an index to find a text's row without reading them all.

`ends[i]` is where row i ends in `content` (UTF-8). A missing text is the one byte 0xFF, which no UTF-8 contains.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MISSING = b"\xff"

Array = NDArray[Any]


def pack(texts: Sequence[str | None]) -> tuple[Array, Array]:
    """`(ends, content)` of the texts."""
    pieces = [_MISSING if text is None else text.encode() for text in texts]
    ends = np.cumsum([len(piece) for piece in pieces], dtype="<i8")
    return ends.astype("<i8", copy=False), np.frombuffer(b"".join(pieces), dtype="|u1")


def unpack(ends: Array, content: Array, rows: Sequence[int] | Array) -> list[str | None]:
    """The texts of some rows."""
    return [_text(ends, content, int(row)) for row in rows]


def index(texts: Sequence[str]) -> tuple[Array, Array]:
    """`(hashes, rows)`: the texts' 64-bit hashes in rising order, and the row of each."""
    hashes = np.array([_hash(text) for text in texts], dtype="<u8")
    order = np.argsort(hashes, kind="stable")
    return hashes[order], order.astype("<i4")


def find(hashes: Array, rows: Array, ends: Array, content: Array, text: str) -> int | None:
    """The row that holds exactly `text`."""
    wanted = np.uint64(_hash(text))
    first, last = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
    return next((int(row) for row in rows[first:last] if _text(ends, content, int(row)) == text), None)


def _text(ends: Array, content: Array, row: int) -> str | None:
    piece = content[int(ends[row - 1]) if row else 0 : int(ends[row])].tobytes()
    return None if piece == _MISSING else piece.decode()


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
