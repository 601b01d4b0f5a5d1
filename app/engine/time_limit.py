"""A limit on the time of one computation: the engine's loops look at the clock, so that a thread is always free again.

    with time_limit(120):
        choose(state, ask)          # raises TimeLimitReached after about 120 seconds

A thread cannot be stopped from outside. So every loop whose length depends on the request calls `check_time`: once per
pick, per block of a sweep and per step of a fit. Nothing is left half done, because every verb returns a new state. The
limit belongs to the context that set it (a thread or a task), and results never depend on it.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

_end: ContextVar[float] = ContextVar("end of the computation", default=math.inf)


class TimeLimitReached(Exception):
    """The computation took longer than its time limit, and was given up."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Give up what is computed inside after this many seconds; an outer limit that ends sooner stays in force."""
    token = _end.set(min(_end.get(), monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def check_time() -> None:
    """Raise TimeLimitReached if the time is up; costs well under a microsecond."""
    end = _end.get()
    if end < math.inf and monotonic() > end:
        raise TimeLimitReached
