"""How much a process takes on at the same time, in all and from one key; more is refused with Retry-After.

Short requests have the server's threads to themselves: a waiting ask holds none, and long work has a few of its own.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from anyio import CapacityLimiter
from starlette.requests import ClientDisconnect, Request

from app.deadline import DeadlinePassed
from app.domain.errors import ComputationTooLong, Overloaded, TooManyRequests
from app.fair_threads import FairThreads, Job

T = TypeVar("T")

MOST_SECONDS = 10.0  # a request that has waited so long for a thread is refused
GRACE_SECONDS = 5.0  # after its deadline, for work to notice it
BURST_SECONDS = 10  # requests that a key did not send it may send later, up to this many seconds' worth


class ConcurrencyLimit:
    """How many may run at the same time: of all keys together, and of one key."""

    def __init__(self, most: int, most_per_key: int | None = None) -> None:
        self._most = most
        self._most_per_key = most if most_per_key is None else most_per_key
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        return self._taken.total()

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


class RefusedSignIns:
    """Which refused sign-ins are recorded: one a second in the long run, so that guessing cannot fill the disk."""

    def __init__(self) -> None:
        self._recorded = RateLimit(1)
        self._unrecorded = 0

    def count(self) -> int | None:
        """None if this one is not recorded; else how many were not, since the last one that was."""
        try:
            self._recorded.count("")
        except TooManyRequests:
            self._unrecorded += 1
            return None
        unrecorded, self._unrecorded = self._unrecorded, 0
        return unrecorded


class LongWork:
    """Runs work that may take long on threads of its own: uploads, downloads, models of large studies."""

    def __init__(self, threads: int, most_waiting: int, seconds: float) -> None:
        self._threads = FairThreads(threads, most_waiting, seconds, "long")
        self._seconds = seconds

    @property
    def line(self) -> int:
        """How much long work runs or waits."""
        return self._threads.line

    async def run(self, request: Request, owner: str, work: Callable[[], T]) -> T:
        return await self.wait(request, self.start(owner, work))

    def start(self, owner: str, work: Callable[[], T]) -> Job[T]:
        """Work that several requests may wait for."""
        return self._threads.start(owner, work)

    async def wait(self, request: Request, job: Job[T]) -> T:
        """The result; or a refusal after ten seconds without a thread, or when the work has taken too long."""
        if not await finished(job, request, MOST_SECONDS) and job.future.cancel():
            raise Overloaded
        if not await finished(job, request, self._seconds + GRACE_SECONDS):
            job.leave()
            raise _too_long()
        try:
            return job.future.result()
        except DeadlinePassed:
            raise _too_long() from None

    def close(self) -> None:
        self._threads.close()


@dataclass(frozen=True)
class LongRunner:
    """`await run_long(work)`: the long work of one request, in the name of its key."""

    request: Request
    long_work: LongWork

    async def __call__(self, work: Callable[[], T]) -> T:
        return await self.long_work.run(self.request, self.request.scope["key_id"], work)


async def finished(job: Job[Any], request: Request, seconds: float) -> bool:
    """Wait until a job is done, at most so many seconds, without holding a thread; give it up if the client leaves."""
    done, loop = asyncio.Event(), asyncio.get_running_loop()
    job.future.add_done_callback(lambda _: loop.call_soon_threadsafe(done.set))
    leaving, waiting = asyncio.create_task(_left(request)), asyncio.create_task(done.wait())
    try:
        await asyncio.wait({leaving, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done() and not job.future.done():
            raise ClientDisconnect
    except (ClientDisconnect, asyncio.CancelledError):
        job.leave()
        raise
    finally:
        leaving.cancel()
        waiting.cancel()
    return job.future.done()


async def _left(request: Request) -> None:
    """Return when the client has left. Its body has been read, so the next message says so."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def run_short(work: Callable[[], T]) -> T:
    """Run work on a thread for short requests, or refuse it after ten seconds without a free one."""
    with anyio.move_on_after(MOST_SECONDS):
        return await anyio.to_thread.run_sync(work)  # once it runs it is not given up
    raise Overloaded


def _too_long() -> ComputationTooLong:
    return ComputationTooLong(
        "The work took longer than NEXTBATCH_WORK_SECONDS and was given up; nothing was stored."
        " Ask for less at once, or raise that setting."
    )


def refuse_a_long_line(threads: CapacityLimiter, most_waiting: int) -> None:
    """Refuse a request immediately if too many wait before it."""
    if threads.statistics().tasks_waiting >= most_waiting:
        raise Overloaded
