"""The embedding Z (m, A) in shards: each holds the columns of some consecutive candidates.

A list in one piece is one shard. Everything of size m × m, and the vectors over all candidates, are not split. So every
verb of `sweep` is the same for one shard and for many: it gives each of them the same small arguments, and each fills
its own part of the vectors, as `each_shard` tells it to.
A shard is here (`Rows`) or in another process (`remote_shards`), which computes the same.

Where the shards begin depends on the settings and the number of candidates alone. Another division gives results that
differ by rounding errors, and the same choices, because those are made to nine digits.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import ClassVar, Protocol

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.blocks import on_threads
from app.engine.stability import Rescues

SPARE, SPARE_NUMBERS = 256, 2**23
"""So many rows are kept free behind those in use, or as many as hold so many numbers, and never less than a quarter of
those in use: a growing embedding is seldom copied, and memory that is never written to costs nothing."""

Vectors = Mapping[str, FloatArray]
"""Numbers of the candidates of one shard, by name: (n,), or (b, n) for several of each."""


class ShardSweep(Protocol):
    """What every shard is told alike: plain data, which can travel."""

    reads: ClassVar[tuple[str, ...]]
    """The vectors that it needs; it may change them."""
    writes: ClassVar[tuple[str, ...]]
    """The vectors that it fills or changes."""

    def run(self, X: FloatArray, rows: "Rows", vectors: Vectors, rescues: Rescues) -> "Rows":
        """Sweep over the rows of a shard with features X (n, d): fill its vectors, and return its rows from now on."""


class Shard(Protocol):
    """The columns Z (m, n) of some consecutive candidates; immutable."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> str: ...

    def columns(self, places: IndexArray | slice | int, first: int) -> FloatArray:
        """The rows from `first` on of the columns at `places`, as float64."""

    def sweep(self, work: ShardSweep, X: FloatArray, vectors: Vectors, rescues: Rescues) -> "Shard":
        """Fill the vectors in place; the shard from now on."""

    def filled(self, *parts: FloatArray) -> "Shard":
        """The rows Z (m, n) over the same candidates, in parts side by side."""


class Rows:
    """An immutable (m, A) array whose successors share its memory.

    `reserve` gives out the memory behind the existing rows if it is still free, and otherwise copies. So an existing
    version keeps its values for ever, and the next state of a study need not copy the rows of the last one.
    """

    def __init__(self, array: FloatArray, memory: "_Memory | None" = None) -> None:
        self._memory = memory or _Memory(array)
        self.array: FloatArray = self._memory.array[: len(array)]
        self.array.flags.writeable = False

    @classmethod
    def empty(cls, width: int, dtype: str = "float64") -> "Rows":
        """No rows yet, over `width` candidates."""
        return cls(np.empty((0, width), dtype=dtype))

    def reserve(self, extra: int) -> tuple["Rows", FloatArray]:
        """A successor with `extra` more rows, and those rows, which the caller fills."""
        m, width = self.array.shape
        memory = self._memory
        if not memory.claim(m, m + extra):
            taken = m + extra
            memory = _Memory(np.empty((taken + _spare(taken, width), width), self.array.dtype), taken)
            memory.array[:m] = self.array
        fresh = memory.array[m : m + extra]
        return Rows(memory.array[: m + extra], memory), fresh

    @property
    def shape(self) -> tuple[int, int]:
        m, width = self.array.shape
        return m, width

    @property
    def dtype(self) -> str:
        return self.array.dtype.name

    def columns(self, places: IndexArray | slice | int, first: int) -> FloatArray:
        return in_float64(self.array[first:, places])

    def sweep(self, work: ShardSweep, X: FloatArray, vectors: Vectors, rescues: Rescues) -> "Rows":
        return work.run(X, self, vectors, rescues)

    def filled(self, *parts: FloatArray) -> "Rows":
        rows, fresh = Rows.empty(self.shape[1], self.dtype).reserve(len(parts[0]))
        np.concatenate(parts, axis=1, out=fresh, casting="same_kind")
        return rows


def _spare(rows: int, width: int) -> int:
    return max(1, rows // 4, min(SPARE, SPARE_NUMBERS // max(1, width)))


class _Memory:
    """The shared array, and how many of its rows are taken."""

    def __init__(self, array: FloatArray, used: int | None = None) -> None:
        self.array = array
        self._used = len(array) if used is None else used
        self._lock = Lock()

    def claim(self, start: int, stop: int) -> bool:
        """Take the rows start … stop if they exist and are the next free ones."""
        with self._lock:
            free = self._used == start and stop <= len(self.array)
            self._used = stop if free else self._used
        return free


class Embedding:
    """Z (m, A), immutable, in one shard or several; `starts` are the first candidates of the shards."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = tuple(shards)
        ends = np.cumsum([shard.shape[1] for shard in shards]).tolist()
        self.starts: tuple[int, ...] = (0, *ends[:-1])
        self.spans = tuple(slice(start, end) for start, end in zip(self.starts, ends, strict=True))

    @classmethod
    def empty(cls, width: int, shard: int = 0, dtype: str = "float64") -> "Embedding":
        """No rows yet, over `width` candidates in shards of `shard`; 0 for one shard."""
        return cls([Rows.empty(span.stop - span.start, dtype) for span in spans_of(width, shard)])

    @property
    def dtype(self) -> str:
        """How the numbers are stored."""
        return self.shards[0].dtype

    @property
    def is_here(self) -> bool:
        """Whether all shards are in this process."""
        return all(isinstance(shard, Rows) for shard in self.shards)

    @property
    def array(self) -> FloatArray:
        """Z; a copy unless it is one shard in this process."""
        first = self.shards[0]
        if len(self.shards) == 1 and isinstance(first, Rows):
            return first.array
        everything = [shard.columns(slice(None), 0) for shard in self.shards]
        return np.hstack(everything).astype(self.dtype, copy=False)

    @property
    def nbytes(self) -> int:
        """What the shards take, wherever they are."""
        numbers = sum(shard.shape[0] * shard.shape[1] for shard in self.shards)
        return numbers * np.dtype(self.dtype).itemsize

    def columns(self, numbers: IndexArray | int, first: int = 0) -> FloatArray:
        """z of some candidates, as float64: (m, n); (m,) for a single number. With `first`, the rows from there on."""
        if len(self.shards) == 1:
            return self.shards[0].columns(numbers, first)
        places = np.atleast_1d(np.asarray(numbers, dtype=np.int64))
        columns = np.empty((self.shards[0].shape[0] - first, len(places)))
        for shard, span in zip(self.shards, self.spans, strict=True):
            inside = np.flatnonzero((places >= span.start) & (places < span.stop))
            if len(inside):
                columns[:, inside] = shard.columns(places[inside] - span.start, first)
        return columns[:, 0] if np.ndim(numbers) == 0 else columns

    def filled(self, Z: FloatArray) -> "Embedding":
        """The rows Z (m, A) over the same candidates, in the same shards."""
        return Embedding([shard.filled(Z[:, span]) for shard, span in zip(self.shards, self.spans, strict=True)])

    def selected(self, numbers: IndexArray) -> "Embedding":
        """The same rows over some of the candidates, in one shard of this process."""
        first, chosen = self.shards[0], Embedding.empty(len(numbers), dtype=self.dtype)
        if len(self.shards) > 1 or not isinstance(first, Rows):
            return chosen.filled(self.columns(numbers))
        rows, fresh = Rows.empty(len(numbers), self.dtype).reserve(len(first.array))
        np.take(first.array, numbers, axis=1, out=fresh, mode="clip")
        return Embedding([rows])

    def extended(self, Z: FloatArray, behind: "Embedding") -> "Embedding":
        """More candidates with the columns Z (m, n); `behind` has room for them and for those of the last shard.

        The other shards stay as they are.
        """
        last = self.shards[-1]
        held, shards = last.shape[1], list(self.shards[:-1])
        for shard, span in zip(behind.shards, behind.spans, strict=True):
            more = Z[:, max(0, span.start - held) : max(0, span.stop - held)]
            shards.append(shard.filled(last.columns(span, 0), more))
        return Embedding(shards)


def spans_of(width: int, shard: int) -> list[slice]:
    """The candidates of each shard, of `shard` candidates but for the last one; 0 for one shard."""
    size = shard or max(1, width)
    return [slice(start, min(start + size, width)) for start in range(0, max(1, width), size)]


def in_float64(stored: FloatArray) -> FloatArray:
    """The numbers as they are computed with; the array itself if they are stored so."""
    return np.asarray(stored, dtype=float)


def each_shard(embedding: Embedding, work: Callable[[int, slice, Rescues], None], rescues: Rescues) -> None:
    """Call `work` with the number of every shard, its candidates, and where to count rescues.

    Shards in this process take turns, because threads share the blocks of each; other processes work at the same time.
    """
    if embedding.is_here:
        for number, span in enumerate(embedding.spans):
            work(number, span, rescues)
    else:
        on_threads([partial(work, number, span) for number, span in enumerate(embedding.spans)], rescues)
