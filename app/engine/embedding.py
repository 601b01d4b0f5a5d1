"""The embedding Z (m, A) in shards: each holds the columns of some consecutive candidates.

A list in one piece is one shard. Everything of size m × m, and the vectors over all candidates, are not split. So every
verb of `sweep` is the same for one shard and for many: it gives each of them the same small arguments, and each fills
its own part of the vectors. `each_shard` does that on several threads if it may; results never depend on how many.

Where the shards begin depends on the settings and the number of candidates alone. Another division gives results that
differ by rounding errors, and the same choices, because those are made to nine digits.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Lock

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.stability import Rescues

SPARE = 64
"""The least number of rows kept free behind those in use; memory that is never written to costs nothing."""


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
    def empty(cls, width: int) -> "Rows":
        """No rows yet, over `width` candidates."""
        return cls(np.empty((0, width)))

    def reserve(self, extra: int) -> tuple["Rows", FloatArray]:
        """A successor with `extra` more rows, and those rows, which the caller fills."""
        m, width = self.array.shape
        memory = self._memory
        if not memory.claim(m, m + extra):
            taken = m + extra
            memory = _Memory(np.empty((taken + max(SPARE, taken // 2), width)), taken)
            memory.array[:m] = self.array
        fresh = memory.array[m : m + extra]
        return Rows(memory.array[: m + extra], memory), fresh


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

    def __init__(self, shards: Sequence[Rows]) -> None:
        self.shards = tuple(shards)
        ends = np.cumsum([shard.array.shape[1] for shard in shards]).tolist()
        self.starts: tuple[int, ...] = (0, *ends[:-1])
        self.spans = tuple(slice(start, end) for start, end in zip(self.starts, ends, strict=True))

    @classmethod
    def empty(cls, width: int, shard: int = 0) -> "Embedding":
        """No rows yet, over `width` candidates in shards of `shard`; 0 for one shard."""
        size = shard or max(1, width)
        return cls([Rows.empty(min(size, width - start)) for start in range(0, max(1, width), size)])

    @property
    def array(self) -> FloatArray:
        """Z; a copy if there are several shards."""
        return self.shards[0].array if len(self.shards) == 1 else np.hstack([shard.array for shard in self.shards])

    @property
    def nbytes(self) -> int:
        return sum(shard.array.nbytes for shard in self.shards)

    def columns(self, numbers: IndexArray | int) -> FloatArray:
        """z of some candidates: (m, n); (m,) for a single number."""
        if len(self.shards) == 1:
            z: FloatArray = self.shards[0].array[:, numbers]
            return z
        places = np.atleast_1d(np.asarray(numbers, dtype=np.int64))
        columns = np.empty((len(self.shards[0].array), len(places)))
        for shard, span in zip(self.shards, self.spans, strict=True):
            inside = np.flatnonzero((places >= span.start) & (places < span.stop))
            columns[:, inside] = shard.array[:, places[inside] - span.start]
        return columns[:, 0] if np.ndim(numbers) == 0 else columns

    def reserve(self, extra: int) -> tuple["Embedding", list[FloatArray]]:
        """A successor with `extra` more rows, and those rows of each shard, which the caller fills."""
        grown = [shard.reserve(extra) for shard in self.shards]
        return Embedding([rows for rows, _ in grown]), [fresh for _, fresh in grown]

    def cleared(self) -> "Embedding":
        """No rows over the same candidates, in the same shards."""
        return Embedding([Rows.empty(shard.array.shape[1]) for shard in self.shards])

    def filled(self, Z: FloatArray) -> "Embedding":
        """The rows Z (m, A) over the same candidates, in the same shards."""
        embedding, fresh = self.cleared().reserve(len(Z))
        for part, span in zip(fresh, self.spans, strict=True):
            part[:] = Z[:, span]
        return embedding

    def extended(self, Z: FloatArray, shard: int) -> "Embedding":
        """More candidates with the columns Z (m, n): the last shard is filled up first, the others stay as they are."""
        last = self.shards[-1].array
        m, held = last.shape
        behind, fresh = Embedding.empty(held + Z.shape[1], shard).reserve(m)
        for part, span in zip(fresh, behind.spans, strict=True):
            kept = last[:, span]
            part[:, : kept.shape[1]] = kept
            part[:, kept.shape[1] :] = Z[:, max(0, span.start - held) : max(0, span.stop - held)]
        return Embedding([*self.shards[:-1], *behind.shards])


_threads: ContextVar[int] = ContextVar("threads of a sweep in this context", default=1)


@contextmanager
def sweep_threads(threads: int) -> Iterator[None]:
    """Let sweeps inside use so many threads, at most one for each shard."""
    token = _threads.set(threads)
    try:
        yield
    finally:
        _threads.reset(token)


def each_shard(embedding: Embedding, work: Callable[[int, slice, Rescues], None], rescues: Rescues) -> None:
    """Call `work` with the number of every shard, its candidates, and where to count rescues."""
    threads = min(_threads.get(), len(embedding.shards))
    if threads == 1:
        for number, span in enumerate(embedding.spans):
            work(number, span, rescues)
        return
    counted = [Rescues() for _ in embedding.spans]
    contexts = [copy_context() for _ in embedding.spans]  # the time limit holds there, too
    with ThreadPoolExecutor(threads, "sweep") as pool:
        calls = zip(contexts, range(len(contexts)), embedding.spans, counted, strict=True)
        jobs = [pool.submit(context.run, work, number, span, own) for context, number, span, own in calls]
    for job, own in zip(jobs, counted, strict=True):
        job.result()
        rescues.update(own)
