"""The connection to one server: requests, retries, and refusals as exceptions.

Everything in this package that talks to the server is a coroutine over a `Connection`. An `AsyncConnection` waits on
the event loop. A `SyncConnection` blocks instead, so its coroutines never suspend and `run_sync` runs them without an
event loop.
"""

from __future__ import annotations

import inspect
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from ._json import must_be_finite
from ._retries import RETRIED_STATUSES, Retries, is_permanent
from .errors import Unreachable, problem_of

if TYPE_CHECKING:
    import httpx

log = logging.getLogger("nextbatch")
WORTH_SAYING = 1.5  # seconds

T = TypeVar("T")
Job = Callable[[Any], Coroutine[Any, Any, None]]


class Connection(ABC):
    """Address, key, time-outs and retries of one server."""

    http: httpx.Client | httpx.AsyncClient

    def __init__(self, url: str, key: str | None, timeout: httpx.Timeout, retries: Retries) -> None:
        self.url = url.rstrip("/").removesuffix("/v1")
        self.timeout = timeout
        self.retries = retries
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request and return its answer; `options` are those of `request`."""
        return await self.send(self.request(method, path, **options))

    def request(self, method: str, path: str, *, extra_seconds: float = 0.0, **options: Any) -> httpx.Request:
        """A request that can safely be sent again: every write carries an Idempotency-Key.

        `extra_seconds` is how long the server may compute beyond the usual time-out; `options` are those of httpx.
        """
        must_be_finite(options.get("json"))
        headers = {**self._headers, **options.pop("headers", {})}
        if method != "GET":
            headers.setdefault("Idempotency-Key", uuid4().hex)
        limits = self.timeout.as_dict()
        limits["read"] = None if limits["read"] is None else limits["read"] + extra_seconds
        return self.http.build_request(
            method,
            f"{self.url}/v1{path}",
            headers=headers,
            timeout=type(self.timeout)(**limits),
            params=_without_none(options.pop("params", {})),
            **options,
        )

    async def send(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Send a request, again if need be; raise `Problem` for a refusal and `Unreachable` without an answer."""
        from httpx import TransportError  # noqa: PLC0415  (see this package's docstring)

        for pause in (*self.retries.pauses(), None):
            try:
                response = await self.send_once(request, stream=stream)
            except TransportError as error:
                if pause is None or is_permanent(error):
                    raise Unreachable(f"No answer from {self.url}: {error or type(error).__name__}") from error
                await self._wait(pause, f"no answer from {self.url}")
                continue
            if response.is_success:
                return response
            await self.read(response)
            if pause is None or response.status_code not in RETRIED_STATUSES:
                raise problem_of(response)
            reason = f"{self.url} answered {response.status_code}"
            await self._wait(max(pause, self.retries.retry_after(response)), reason)
        raise AssertionError("the last attempt returns or raises")

    async def _wait(self, seconds: float, reason: str) -> None:
        """Wait before another attempt, and say so: Python prints the warnings of a library that has no handler."""
        if seconds >= WORTH_SAYING:
            log.warning("%s; trying again in %.0f s", reason, seconds)
        await self.sleep(seconds)

    @abstractmethod
    async def send_once(self, request: httpx.Request, *, stream: bool) -> httpx.Response: ...

    @abstractmethod
    async def read(self, response: httpx.Response) -> None: ...

    @abstractmethod
    async def sleep(self, seconds: float) -> None: ...

    @abstractmethod
    def lines(self, response: httpx.Response) -> Any: ...

    @abstractmethod
    async def next_line(self, lines: Any) -> str | None: ...

    @abstractmethod
    async def close(self, closable: Any) -> None: ...

    @abstractmethod
    async def evaluate(self, function: Callable[[Any], Any], argument: Any) -> Any: ...

    @abstractmethod
    async def run_all(self, job: Job, items: Iterable[Any], workers: int) -> None:
        """Run `job` on every item, at most `workers` at a time; the first exception cancels the rest."""


class SyncConnection(Connection):
    """Blocks; several threads may share it."""

    http: httpx.Client

    async def send_once(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        return self.http.send(request, stream=stream)

    async def read(self, response: httpx.Response) -> None:
        response.read()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def lines(self, response: httpx.Response) -> Any:
        return response.iter_lines()

    async def next_line(self, lines: Any) -> str | None:
        return next(lines, None)

    async def close(self, closable: Any) -> None:
        closable.close()

    async def evaluate(self, function: Callable[[Any], Any], argument: Any) -> Any:
        return function(argument)

    async def run_all(self, job: Job, items: Iterable[Any], workers: int) -> None:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

        with ThreadPoolExecutor(workers, thread_name_prefix="nextbatch") as pool:
            futures = [pool.submit(_run_job, job, item) for item in items]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


class AsyncConnection(Connection):
    """Waits on asyncio's event loop."""

    http: httpx.AsyncClient

    async def send_once(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        return await self.http.send(request, stream=stream)

    async def read(self, response: httpx.Response) -> None:
        await response.aread()

    async def sleep(self, seconds: float) -> None:
        import asyncio  # noqa: PLC0415

        await asyncio.sleep(seconds)

    def lines(self, response: httpx.Response) -> Any:
        return response.aiter_lines()

    async def next_line(self, lines: Any) -> str | None:
        line: str | None = await anext(lines, None)
        return line

    async def close(self, closable: Any) -> None:
        await closable.aclose()

    async def evaluate(self, function: Callable[[Any], Any], argument: Any) -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(argument)
        import asyncio  # noqa: PLC0415

        return await asyncio.to_thread(function, argument)

    async def run_all(self, job: Job, items: Iterable[Any], workers: int) -> None:
        import asyncio  # noqa: PLC0415

        semaphore = asyncio.Semaphore(workers)

        async def limited(item: Any) -> None:
            async with semaphore:
                await job(item)

        tasks = [asyncio.ensure_future(limited(item)) for item in items]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            for task in tasks:
                task.cancel()
            raise


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("a coroutine over a SyncConnection must not suspend")


def _run_job(job: Job, item: Any) -> None:
    run_sync(job(item))


def _without_none(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}
