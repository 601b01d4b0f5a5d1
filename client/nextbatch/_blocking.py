"""The wire that waits where it stands: its coroutines never suspend, so no event loop is needed."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import httpx

from ._wire import Job, Wire

T = TypeVar("T")


class Blocking(Wire):
    """Waits where it stands; several threads may share it."""

    http: httpx.Client

    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        return self.http.send(request, stream=stream)

    async def read(self, response: httpx.Response) -> None:
        response.read()

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def lines(self, response: httpx.Response) -> Any:
        return response.iter_lines()

    async def next_line(self, lines: Any) -> str | None:
        return next(lines, None)

    async def close(self, what: Any) -> None:
        what.close()

    async def evaluate(self, function: Callable[[Any], Any], argument: Any) -> Any:
        return function(argument)

    async def each(self, job: Job, items: Iterable[Any], workers: int) -> None:
        with ThreadPoolExecutor(workers, thread_name_prefix="nextbatch") as pool:
            running = [pool.submit(_carry_out, job, item) for item in items]
            try:
                for one in running:
                    one.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _carry_out(job: Job, item: Any) -> None:
    finish(job(item))


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends to its end."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("a blocking wire must not suspend")
