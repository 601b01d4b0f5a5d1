"""A column of text packed into two plain arrays, which a list of 10⁷ keys needs to be.

`ends[i]` is where row i ends in `content` (UTF-8). A missing text is the single byte 0xFF, which no UTF-8 contains. An
index finds the row of a text without reading them all. As Python's strings, the same keys take ten times the memory.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import overload

import numpy as np

from app.arrays import Array, BoolArray, IndexArray

_MISSING = b"\xff"
_FEED, _RETURN = b"\n"[0], b"\r"[0]
_PIECE = 1 << 22  # bytes or rows that are looked at together
_LOWER = np.array([byte + 32 if 65 <= byte <= 90 else byte for byte in range(256)], dtype=np.uint8)


class PackedStrings(Sequence[str]):
    """Texts of which none is missing, in order; one is decoded when it is read."""

    def __init__(self, ends: Array, content: Array) -> None:
        self.ends, self.content = ends, content

    @classmethod
    def of_lines(cls, content: Array) -> "PackedStrings":
        """The lines of a text in UTF-8 (n,); the last one may end without a line feed."""
        if len(content) and content[-1] == _FEED:
            content = content[:-1]
        feeds = np.flatnonzero(content == _FEED)
        stops = np.append(feeds, len(content))
        is_dropped = np.zeros(len(content), dtype=bool)
        is_dropped[feeds] = True
        before = stops[stops > 0] - 1
        is_dropped[before[content[before] == _RETURN]] = True
        ends = stops - np.concatenate(([0], np.cumsum(is_dropped, dtype=np.int64)))[stops]
        return cls(ends.astype("<i8", copy=False), content[~is_dropped])

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...
    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(row)
        return _piece(self.ends, self.content, row % len(self)).decode()

    def __len__(self) -> int:
        return len(self.ends)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def lengths(self) -> IndexArray:
        """(n,) how many bytes each has."""
        return np.diff(self.ends, prepend=0)

    @cached_property
    def hash_index(self) -> tuple[Array, Array]:
        """As `index_strings`."""
        return _sorted(np.fromiter(map(_hash_of, self._pieces()), dtype="<u8", count=len(self)))

    def repeats(self) -> Iterator[tuple[int, int]]:
        """The rows whose text an earlier row has: the first row of that text, and the later one, in rising order."""
        hashes, rows = self.hash_index
        same_hash = hashes[1:] == hashes[:-1]
        suspects = np.sort(rows[np.append(same_hash, False) | np.insert(same_hash, 0, False)])
        first: dict[str, int] = {}
        for row in suspects.tolist():
            earlier = first.setdefault(self[row], row)
            if earlier != row:
                yield earlier, row

    def _pieces(self) -> Iterator[bytes]:
        for start in range(0, len(self), _PIECE):
            stops = self.ends[start : start + _PIECE].tolist()
            begin = int(self.ends[start - 1]) if start else 0
            content, last = self.content[begin : stops[-1]].tobytes(), 0
            for stop in stops:
                yield content[last : stop - begin]
                last = stop - begin


def pack_strings(texts: Sequence[str | None]) -> tuple[Array, Array]:
    """`(ends, content)` of the texts."""
    if isinstance(texts, PackedStrings):
        return texts.ends, texts.content
    pieces = [_MISSING if text is None else text.encode() for text in texts]
    ends = np.cumsum([len(piece) for piece in pieces], dtype="<i8")
    return ends.astype("<i8", copy=False), np.frombuffer(b"".join(pieces), dtype="|u1")


def unpack_strings(ends: Array, content: Array, rows: Sequence[int] | Array) -> list[str | None]:
    """The texts of some rows."""
    return [_text(ends, content, int(row)) for row in rows]


def index_strings(texts: Sequence[str]) -> tuple[Array, Array]:
    """`(hashes, rows)`: the 64-bit hashes of the texts in rising order, and the row of each."""
    if isinstance(texts, PackedStrings):
        return texts.hash_index
    return _sorted(np.array([_hash(text) for text in texts], dtype="<u8"))


def find_string(hashes: Array, rows: Array, ends: Array, content: Array, text: str) -> int | None:
    """The row that holds exactly `text`."""
    target = np.uint64(_hash(text))
    first, last = np.searchsorted(hashes, target, "left"), np.searchsorted(hashes, target, "right")
    return next((int(row) for row in rows[first:last] if _text(ends, content, int(row)) == text), None)


def rows_containing(ends: Array, content: Array, part: str) -> BoolArray:
    """(n,) which texts have `part` somewhere in them, whatever the case of their letters; none may be missing."""
    part = part.casefold()
    if len(content) and content.max() > 127:
        return np.array(
            [part in _piece(ends, content, row).decode().casefold() for row in range(len(ends))], dtype=bool
        )
    contains = np.zeros(len(ends), dtype=bool)
    if not part.isascii():
        return contains
    if not part:
        return ~contains
    for start in range(0, len(content), _PIECE):
        begins = _occurrences(_LOWER[content[start : start + _PIECE + len(part) - 1]], part.encode()) + start
        rows = np.searchsorted(ends, begins, "right")
        contains[rows[begins + len(part) <= ends[rows]]] = True  # the others go on in the next text
    return contains


def numbers_containing(first: int, count: int, part: str) -> BoolArray:
    """(count,) which of the numbers first, first + 1, … have `part` somewhere in their decimal digits."""
    numbers = np.arange(first, first + count, dtype=np.int64)
    contains = np.zeros(count, dtype=bool)
    if not part:
        return ~contains
    if not (part.isascii() and part.isdigit()) or len(part) > len(str(first + count)):
        return contains
    for place in range(len(str(first + count)) - len(part) + 1):
        shifted = numbers // 10**place
        contains |= (shifted % 10 ** len(part) == int(part)) & (shifted >= 10 ** (len(part) - 1))
    return contains


def _occurrences(content: Array, part: bytes) -> IndexArray:
    """Where `part` begins in the bytes."""
    begins = np.flatnonzero(content[: max(0, len(content) - len(part) + 1)] == part[0])
    for offset, byte in enumerate(part[1:], 1):
        begins = begins[content[begins + offset] == byte]
    return begins


def _sorted(hashes: Array) -> tuple[Array, Array]:
    order = np.argsort(hashes, kind="stable")
    return hashes[order], order.astype("<i4")


def _text(ends: Array, content: Array, row: int) -> str | None:
    piece = _piece(ends, content, row)
    return None if piece == _MISSING else piece.decode()


def _piece(ends: Array, content: Array, row: int) -> bytes:
    piece: bytes = content[int(ends[row - 1]) if row else 0 : int(ends[row])].tobytes()
    return piece


def _hash(text: str) -> int:
    return _hash_of(text.encode())


def _hash_of(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
