"""Until when the work of a request may go on, and whether anybody still waits for it.

    with deadline(120, demand):
        for block in blocks:
            check_deadline()        # raises DeadlinePassed after 120 seconds, or Unwanted once nobody waits

A thread cannot be stopped from outside. So every loop whose length depends on the request calls `check_deadline`. The
deadline belongs to the context that set it (a thread or a task), and results never depend on it.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import monotonic
from typing import NamedTuple


class DeadlinePassed(Exception):
    """The work took longer than it may, and was given up."""


class Unwanted(Exception):
    """Everyone who waited for the work has left, so it was given up."""


class Demand:
    """How many wait for a piece of work, beginning with the one who asked for it."""

    def __init__(self) -> None:
        self._waiting = 1
        self._promised = False
        self._lock = Lock()

    @property
    def wanted(self) -> bool:
        return self._promised or self._waiting > 0

    def join(self) -> bool:
        """Wait for it, too; False if it has been given up."""
        with self._lock:
            wanted = self.wanted
            self._waiting += wanted
        return wanted

    def leave(self) -> None:
        with self._lock:
            self._waiting -= 1

    def promise(self) -> None:
        """Somebody was told to come back for the result, so it is wanted even if nobody waits."""
        self._promised = True


class _Limits(NamedTuple):
    end: float
    demand: Demand | None


_limits: ContextVar[_Limits | None] = ContextVar("limits of the work in this context", default=None)


@contextmanager
def deadline(seconds: float, demand: Demand | None = None) -> Iterator[None]:
    """Give up what is done inside after this many seconds; an outer deadline that ends sooner stays in force."""
    outer = _limits.get() or _Limits(math.inf, None)
    token = _limits.set(_Limits(min(outer.end, monotonic() + seconds), demand or outer.demand))
    try:
        yield
    finally:
        _limits.reset(token)


def check_deadline() -> None:
    """Raise if the work should be given up; costs well under a microsecond."""
    limits = _limits.get()
    if limits is None:
        return
    if monotonic() > limits.end:
        raise DeadlinePassed
    if limits.demand is not None and not limits.demand.wanted:
        raise Unwanted
