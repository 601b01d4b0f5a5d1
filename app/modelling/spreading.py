"""Long lists whose shards other processes hold: what compute, which carries the calls, needs of the engine.

A process that holds shards has a `ShardStore`, and answers calls of its methods. A process that chooses has a
`CalledShardHost` for each of those, and says how a call gets there.
"""

from collections.abc import Callable, Sequence
from typing import Any

from app.arrays import FloatArray, IndexArray
from app.engine import ShardLost, ShardStore, Spread
from app.engine.embedding import ShardSweep, Vectors
from app.engine.kernels import Kernel
from app.engine.remote_shards import Shapes, SweptShard
from app.engine.stability import Rescues

__all__ = ["CalledShardHost", "ShardLost", "ShardStore", "Spread"]


class CalledShardHost:
    """A `ShardStore` in another process. `call` gets the name of a method and its arguments, and raises `ShardLost`."""

    def __init__(self, call: Callable[..., Any], forget: Callable[[int], None]) -> None:
        """`forget` is called at any time, and must neither wait nor raise."""
        self._call = call
        self.forget = forget

    def begin(self, number: int, X: FloatArray) -> None:
        self._call("begin", number, X)

    def sweep(self, number: int, successor: int, work: ShardSweep, vectors: Vectors, shapes: Shapes) -> SweptShard:
        swept: SweptShard = self._call("sweep", number, successor, work, vectors, shapes)
        return swept

    def columns(self, number: int, places: IndexArray | slice | int, first: int) -> FloatArray:
        columns: FloatArray = self._call("columns", number, places, first)
        return columns

    def kernel_columns(
        self, number: int, kernel: Kernel, X_D: FloatArray, places: IndexArray
    ) -> tuple[FloatArray, Rescues]:
        columns: tuple[FloatArray, Rescues] = self._call("kernel_columns", number, kernel, X_D, places)
        return columns

    def fill(self, number: int, successor: int, parts: Sequence[FloatArray]) -> None:
        self._call("fill", number, successor, parts)
