"""How much a process takes on at the same time, in all and from one key; more is refused with Retry-After.

Short requests have the server's threads to themselves: a waiting ask holds none, and long work has a few of its own.
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

MOST_SECONDS = 10.0  # a request that waited longer for a thread is refused, which takes no time
BURST_SECONDS = 10  # requests that a key did not send it may send later, up to this many seconds' worth


class ConcurrencyLimit:
    """How many may run at the same time: of all keys together, and of one key."""

    def __init__(self, most: int, most_per_key: int | None = None) -> None:
        self._most = most
        self._most_per_key = most if most_per_key is None else most_per_key
        self._taken: Counter[str] = Counter()

    @contextmanager
    def slot(self, key_id: str, refusal: str | None = None) -> Iterator[None]:
        """A slot for as long as the block lasts."""
        if self._taken.total() >= self._most or self._taken[key_id] >= self._most_per_key:
            raise Overloaded(refusal)
        self._taken[key_id] += 1
        try:
            yield
        finally:
            self._taken[key_id] -= 1
            if not self._taken[key_id]:
                del self._taken[key_id]


class RateLimit:
    """A number of requests per second for each key in the long run, and ten seconds' worth of them at once."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._spent: dict[str, tuple[float, float]] = {}  # key → how many requests it is ahead, and at what time

    def count(self, key_id: str) -> None:
        """Count a request of this key, or refuse it; 0 per second means no limit."""
        if not self._per_second:
            return
        now = monotonic()
        ahead, then = self._spent.get(key_id, (0.0, now))
        ahead = max(0.0, ahead - (now - then) * self._per_second) + 1
        if ahead > self._per_second * BURST_SECONDS:
            raise TooManyRequests(retry_after=ceil(1 / self._per_second))
        self._spent[key_id] = ahead, now


class LongWork:
    """Runs work that may take long on threads of its own: uploads, downloads, models of large studies."""

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
    """Wait until a job is done, at most so many seconds, without holding a thread."""
    done, loop = asyncio.Event(), asyncio.get_running_loop()
    job.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
    with anyio.move_on_after(seconds):
        await done.wait()


def refuse_a_long_line(threads: CapacityLimiter, most_waiting: int) -> None:
    """Refuse a request immediately if too many wait before it."""
    if threads.statistics().tasks_waiting >= most_waiting:
        raise Overloaded


def refuse_a_long_wait(arrived: float) -> None:
    """Refuse a request that has waited too long when its turn comes, so that those behind it are served sooner."""
    if monotonic() - arrived > MOST_SECONDS:
        raise Overloaded
