"""Rows that grow without being copied, and still never change for those who hold an earlier version."""

from threading import Lock

import numpy as np

from app.engine.arrays import Array

SPARE = 64
"""Rows kept free behind those in use, at least; memory never written to costs nothing."""


class Rows:
    """An immutable (m, A) array whose successors share its memory.

    `reserve` gives the memory behind the old rows when nobody has taken it before, else a copy: a version that was
    handed out keeps its values for ever, and the next state of a study need not copy the rows of the last.
    """

    def __init__(self, array: Array, memory: "_Memory | None" = None) -> None:
        self._memory = memory or _Memory(array)
        self.array: Array = self._memory.array[: len(array)]
        self.array.flags.writeable = False

    @classmethod
    def empty(cls, width: int) -> "Rows":
        """No rows over `width` candidates."""
        return cls(np.empty((0, width)))

    def reserve(self, extra: int) -> tuple["Rows", Array]:
        """A successor with `extra` more rows, and those rows, still to be filled by the caller."""
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

    def __init__(self, array: Array, used: int | None = None) -> None:
        self.array = array
        self._used = len(array) if used is None else used
        self._lock = Lock()

    def claim(self, start: int, stop: int) -> bool:
        """Take rows start … stop, if they exist and are the next free ones."""
        with self._lock:
            free = self._used == start and stop <= len(self.array)
            self._used = stop if free else self._used
        return free
