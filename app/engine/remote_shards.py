"""Shards of the embedding that other processes hold, so that a list may be longer than the memory of one machine.

A host keeps the features and the rows of some shards. It is sent what every shard is told, and the vectors that the
sweep reads, and sends back the vectors that it fills. The rows stay where they are: a `RemoteShard` is only the number
under which its host knows them, and when nobody refers to it any more the host may forget them. Vectors over the whole
list, the features of all candidates and everything of size m × m remain with the process that chooses.

A host computes with the code of a shard in this process, so the results are the same to the bit. A host that is lost
takes rows with it that nobody else has: then every verb raises `ShardLost`, and the model has to be made anew.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import Protocol
from weakref import finalize

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.embedding import Embedding, Rows, ShardSweep, Vectors, spans_of
from app.engine.kernels import Kernel
from app.engine.shard_sweeps import kernel_rows_of
from app.engine.stability import Rescues

Shapes = Mapping[str, tuple[int, ...]]


class ShardLost(Exception):
    """The process that held a shard is gone."""


@dataclass(frozen=True)
class SweptShard:
    """What came of a sweep: how many rows the shard has now, the vectors that were filled, and the rescues."""

    rows: int
    vectors: Vectors
    rescues: Rescues


class ShardHost(Protocol):
    """Holds shards, each immutable and under a number that whoever asks for it chooses. Any call may raise `ShardLost`.

    What is called later happens later.
    """

    def begin(self, number: int, X: FloatArray) -> None:
        """A shard without rows over candidates with the features X (n, d), stored as these are."""

    def sweep(self, number: int, successor: int, work: ShardSweep, vectors: Vectors, shapes: Shapes) -> SweptShard:
        """Run a sweep, given the vectors that it reads and the shapes of those that it writes."""

    def columns(self, number: int, places: IndexArray | slice | int, first: int) -> FloatArray: ...
    def kernel_columns(
        self, number: int, kernel: Kernel, X_D: FloatArray, places: IndexArray
    ) -> tuple[FloatArray, Rescues]: ...
    def fill(self, number: int, successor: int, parts: Sequence[FloatArray]) -> None: ...
    def forget(self, number: int) -> None: ...


class ShardStore:
    """A host in this process; in another one, what answers for it there."""

    def __init__(self) -> None:
        self._shards: dict[int, tuple[FloatArray, Rows]] = {}

    def __len__(self) -> int:
        return len(self._shards)

    def begin(self, number: int, X: FloatArray) -> None:
        self._shards[number] = X, Rows.empty(len(X), X.dtype.name)

    @np.errstate(all="ignore")
    def sweep(self, number: int, successor: int, work: ShardSweep, vectors: Vectors, shapes: Shapes) -> SweptShard:
        (X, rows), rescues = self._shards[number], Rescues()
        own = {name: vectors[name].copy() if name in vectors else np.empty(shape) for name, shape in shapes.items()}
        swept = work.run(X, rows, own, rescues)
        self._shards[successor] = X, swept
        return SweptShard(swept.shape[0], own, rescues)

    def columns(self, number: int, places: IndexArray | slice | int, first: int) -> FloatArray:
        return self._shards[number][1].columns(places, first)

    @np.errstate(all="ignore")
    def kernel_columns(
        self, number: int, kernel: Kernel, X_D: FloatArray, places: IndexArray
    ) -> tuple[FloatArray, Rescues]:
        X, rescues = self._shards[number][0], Rescues()
        return kernel_rows_of(kernel, X_D, X, rescues)[:, places], rescues

    def fill(self, number: int, successor: int, parts: Sequence[FloatArray]) -> None:
        X, rows = self._shards[number]
        self._shards[successor] = X, rows.filled(*parts)

    def forget(self, number: int) -> None:
        self._shards.pop(number, None)


_numbers = count(1)


class RemoteShard:
    """A shard that a host keeps under a number."""

    def __init__(self, host: ShardHost, number: int, shape: tuple[int, int], dtype: str) -> None:
        self._host, self._number = host, number
        self.shape, self.dtype = shape, dtype
        finalize(self, host.forget, number).atexit = False

    @classmethod
    def begun(cls, host: ShardHost, X: FloatArray) -> "RemoteShard":
        with _new_number(host) as number:
            host.begin(number, X)
        return cls(host, number, (0, len(X)), X.dtype.name)

    def columns(self, places: IndexArray | slice | int, first: int) -> FloatArray:
        return self._host.columns(self._number, places, first)

    def kernel_columns(self, kernel: Kernel, X_D: FloatArray, places: IndexArray, rescues: Rescues) -> FloatArray:
        """k_D(x) of some candidates of the shard: (|D|, n)."""
        columns, own = self._host.kernel_columns(self._number, kernel, X_D, places)
        rescues.update(own)
        return columns

    def sweep(self, work: ShardSweep, _X: FloatArray, vectors: Vectors, rescues: Rescues) -> "RemoteShard":
        read, shapes = {name: vectors[name] for name in work.reads}, {name: vectors[name].shape for name in work.writes}
        with _new_number(self._host) as number:
            swept = self._host.sweep(self._number, number, work, read, shapes)
        for name, filled in swept.vectors.items():
            vectors[name][...] = filled
        rescues.update(swept.rescues)
        return RemoteShard(self._host, number, (swept.rows, self.shape[1]), self.dtype)

    def filled(self, *parts: FloatArray) -> "RemoteShard":
        with _new_number(self._host) as number:
            self._host.fill(self._number, number, parts)
        return RemoteShard(self._host, number, (len(parts[0]), self.shape[1]), self.dtype)


@contextmanager
def _new_number(host: ShardHost) -> Iterator[int]:
    """For a shard to be made; whoever is interrupted while it is made will never refer to it."""
    number = next(_numbers)
    try:
        yield number
    except BaseException:
        host.forget(number)
        raise


@dataclass(frozen=True)
class Spread:
    """Who holds the shards of lists with at least so many candidates. They are looked for when there is such a list."""

    hosts: Callable[[], Sequence[ShardHost]]
    least: int = 0


_spread: ContextVar[Spread | None] = ContextVar("hosts of shards in this context", default=None)


@contextmanager
def spread_over(spread: Spread | None) -> Iterator[None]:
    """Let lists that are begun inside, and are in shards, have these on other hosts, one after the other."""
    token = _spread.set(spread)
    try:
        yield
    finally:
        _spread.reset(token)


def embedding_over(X: FloatArray, shard: int, dtype: str, *, here: bool | None = None) -> Embedding:
    """No rows yet, over candidates with the features X in shards of `shard`: on other hosts if the list is long.

    `here` says where instead: more candidates of a list go where its others are.
    """
    spread = _spread.get()
    is_far = spread is not None and shard > 0 and (len(X) >= spread.least if here is None else not here)
    if spread is None or not is_far:
        return Embedding.empty(len(X), shard, dtype)
    hosts = spread.hosts()
    spans = enumerate(spans_of(len(X), shard))
    return Embedding([RemoteShard.begun(hosts[number % len(hosts)], X[span]) for number, span in spans])
