"""What a process takes on at the same time, and from one key; whatever is more is refused at once, with Retry-After.

Short requests have the server's threads to themselves: asks wait without one, and long work has a few of its own.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from math import ceil
from time import monotonic
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio import CapacityLimiter

from app.domain.errors import Overloaded, TooManyRequests

T = TypeVar("T")

PATIENCE = 10.0  # seconds; who waited longer for a thread is told to come again, which takes no time
BURST_SECONDS = 10  # what a key did not use, it may use later, up to so much


class Places:
    """How many may be there at the same time: of all keys together, and of one."""

    def __init__(self, most: int, most_of_one: int | None = None) -> None:
        self._most = most
        self._most_of_one = most if most_of_one is None else most_of_one
        self._taken: Counter[str] = Counter()

    @contextmanager
    def place(self, key_id: str, refusal: str | None = None) -> Iterator[None]:
        """A place for as long as the block lasts."""
        if self._taken.total() >= self._most or self._taken[key_id] >= self._most_of_one:
            raise Overloaded(refusal)
        self._taken[key_id] += 1
        try:
            yield
        finally:
            self._taken[key_id] -= 1
            self._taken += Counter()  # forgets those who have none


class Rates:
    """So many requests a second for each key in the long run, ten seconds' worth of them at once."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._spent: dict[str, tuple[float, float]] = {}  # key → how many requests it is ahead, and when that was

    def count(self, key_id: str) -> None:
        """Count a request of this key, or refuse it; 0 a second is no limit."""
        if not self._per_second:
            return
        now = monotonic()
        ahead, then = self._spent.get(key_id, (0.0, now))
        ahead = max(0.0, ahead - (now - then) * self._per_second) + 1
        if ahead > self._per_second * BURST_SECONDS:
            raise TooManyRequests(retry_after=ceil(1 / self._per_second))
        self._spent[key_id] = ahead, now


class LongWork:
    """Runs what may take long on threads of its own: uploads, downloads, models of large studies."""

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._threads = CapacityLimiter(threads)
        self._most_waiting = most_waiting

    async def __call__(self, work: Callable[[], T]) -> T:
        refuse_a_long_line(self._threads, self._most_waiting)
        arrived = monotonic()

        def in_time() -> T:
            refuse_a_long_wait(arrived)
            return work()

        return await anyio.to_thread.run_sync(in_time, limiter=self._threads)


async def finished(job: Future[Any], seconds: float) -> None:
    """Wait until a job is done, but not longer; no thread waits meanwhile."""
    done, loop = asyncio.Event(), asyncio.get_running_loop()
    job.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
    with anyio.move_on_after(seconds):
        await done.wait()


def refuse_a_long_line(threads: CapacityLimiter, most_waiting: int) -> None:
    """Whoever would wait for too long is told at once."""
    if threads.statistics().tasks_waiting >= most_waiting:
        raise Overloaded


def refuse_a_long_wait(arrived: float) -> None:
    """Whoever did wait for too long is told so when the turn comes, and those behind get theirs sooner."""
    if monotonic() - arrived > PATIENCE:
        raise Overloaded
