"""A limit on the time of one computation: the engine's loops look at the clock, so that a thread is always free again.

    with time_limit(120):
        choose(state, ask)          # raises TimeLimitReached after about 120 seconds

A thread cannot be stopped from outside. So every loop whose length depends on the request calls `check_time`: once per
pick, per block of a sweep and per step of a fit. Nothing is left half done, because every verb returns a new state. The
limit belongs to the context that set it (a thread or a task), and results never depend on it.

The mechanism is that of all work of a request (`app.deadline`). So a computation also ends when everyone who waited for
it has left: then `check_time` raises `Unwanted`, which is for whoever started the work.
"""

from contextlib import AbstractContextManager

from app.deadline import DeadlinePassed, check_deadline, deadline

TimeLimitReached = DeadlinePassed


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Give up what is computed inside after this many seconds; an outer limit that ends sooner stays in force."""
    return deadline(seconds)


def check_time() -> None:
    """Raise TimeLimitReached if the time is up; costs well under a microsecond."""
    check_deadline()


__all__ = ["TimeLimitReached", "check_time", "time_limit"]
