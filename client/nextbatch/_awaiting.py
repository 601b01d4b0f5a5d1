"""The wire that waits as coroutines do, on asyncio."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import httpx

from ._wire import Job, Wire


class Awaiting(Wire):
    http: httpx.AsyncClient

    async def send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        return await self.http.send(request, stream=stream)

    async def read(self, response: httpx.Response) -> None:
        await response.aread()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def lines(self, response: httpx.Response) -> Any:
        return response.aiter_lines()

    async def next_line(self, lines: Any) -> str | None:
        line: str | None = await anext(lines, None)
        return line

    async def close(self, what: Any) -> None:
        await what.aclose()

    async def evaluate(self, function: Callable[[Any], Any], argument: Any) -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(argument)
        return await asyncio.to_thread(function, argument)

    async def each(self, job: Job, items: Iterable[Any], workers: int) -> None:
        places = asyncio.Semaphore(workers)

        async def one(item: Any) -> None:
            async with places:
                await job(item)

        running = [asyncio.ensure_future(one(item)) for item in items]
        try:
            await asyncio.gather(*running)
        except BaseException:
            for task in running:
                task.cancel()
            raise
