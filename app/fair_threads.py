"""Threads that serve each owner in turn, so that nobody can keep all of them busy.

An owner (a key) holds all threads but one at the most, and half of the line. Work that nobody waits for any more is not
begun, and if it has begun, it ends at its next look at the deadline.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar

from app.deadline import Demand, Unwanted, deadline
from app.domain.errors import Overloaded

T = TypeVar("T")


@dataclass(frozen=True)
class Job(Generic[T]):
    """Work that waits for a thread, runs or is done, and those who wait for it."""

    future: Future[T]
    demand: Demand = field(default_factory=Demand)

    def leave(self) -> None:
        """Wait no longer for it; if nobody else does, it is not begun, or given up."""
        self.demand.leave()
        if not self.demand.wanted:
            self.future.cancel()


class FairThreads:
    """A fixed number of threads and a line of limited length, served owner by owner."""

    def __init__(self, threads: int, most_waiting: int, seconds: float, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._threads = threads
        self._most_waiting = most_waiting
        self._seconds = seconds
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[tuple[Job[Any], Callable[[], None]]]] = OrderedDict()
        self._lock = Lock()

    @property
    def line(self) -> int:
        """How much work runs or waits."""
        with self._lock:
            return self._running.total() + self._count_waiting()

    def start(self, owner: str, work: Callable[[], T]) -> Job[T]:
        """Begin the work as soon as it is the owner's turn; refused if the line is too long already."""
        job: Job[T] = Job(Future())
        context = copy_context()
        with self._lock:
            self._forget_cancelled()
            own = len(self._waiting.get(owner, ()))
            is_line_full = self._count_waiting() >= self._most_waiting or own >= max(1, self._most_waiting // 2)
            if is_line_full and self._is_busy_for(owner):
                raise Overloaded
            self._waiting.setdefault(owner, deque()).append((job, lambda: context.run(self._run, job, work)))
            self._dispatch()
        return job

    def close(self) -> None:
        """Finish what runs; what waits is cancelled."""
        with self._lock:
            waiting = [job for works in self._waiting.values() for job, _ in works]
            self._waiting.clear()
        for job in waiting:
            job.future.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job[T], work: Callable[[], T]) -> None:
        if not job.future.set_running_or_notify_cancel():
            return
        try:
            with deadline(self._seconds, job.demand):
                result = work()
        except Unwanted:
            job.future.set_exception(Overloaded("Everyone who asked for this left before it was done. Try again."))
        except BaseException as error:
            job.future.set_exception(error)
        else:
            job.future.set_result(result)

    def _dispatch(self) -> None:
        """Give free threads to the owners in turn."""
        while (owner := next((other for other in self._waiting if not self._is_busy_for(other)), None)) is not None:
            self._begin(owner)

    def _begin(self, owner: str) -> None:
        _, run = self._waiting[owner].popleft()
        self._waiting.move_to_end(owner)  # behind the others
        if not self._waiting[owner]:
            del self._waiting[owner]
        self._running[owner] += 1
        self._pool.submit(self._serve, owner, run)

    def _serve(self, owner: str, run: Callable[[], None]) -> None:
        """On a thread of the pool: do the work, then pass the thread on."""
        run()
        with self._lock:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]
            self._dispatch()

    def _is_busy_for(self, owner: str) -> bool:
        share = max(1, self._threads - 1)
        return self._running.total() >= self._threads or self._running[owner] >= share

    def _count_waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _forget_cancelled(self) -> None:
        for owner, works in list(self._waiting.items()):
            self._waiting[owner] = deque(work for work in works if not work[0].future.cancelled())
            if not self._waiting[owner]:
                del self._waiting[owner]
