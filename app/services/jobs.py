"""Long computations: a few threads, a bounded queue, and one job for all who want the same."""

from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

from app.domain.errors import Overloaded


class Jobs:
    """Runs each job once, even if nobody waits for it any more. (Losing one costs only time: nothing rests on it.)"""

    def __init__(self, threads: int, most_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="engine")
        self._most = threads + most_waiting
        self._running: dict[Hashable, Future[Any]] = {}
        self._lock = Lock()

    def start(self, key: Hashable, work: Callable[[], Any]) -> Future[Any]:
        """The job under `key`: the one that runs already, or a new one."""
        with self._lock:
            running = self._running.get(key)
            if running is not None and not running.done():
                return running
            if len(self._running) >= self._most:
                raise Overloaded
            future: Future[Any] = self._pool.submit(work)
            self._running[key] = future
        future.add_done_callback(lambda _: self._forget(key, future))
        return future

    def close(self) -> None:
        """Finish what runs, take nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _forget(self, key: Hashable, future: Future[Any]) -> None:
        with self._lock:
            if self._running.get(key) is future:
                del self._running[key]
