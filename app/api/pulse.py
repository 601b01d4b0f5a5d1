"""What is new, for all streams of a process with one look every half second: two short queries, however many watch."""

import asyncio

import anyio
from starlette.concurrency import run_in_threadpool

from app.services import events
from app.services.events import News
from app.services.transactions import Reading

SECONDS = 0.5


class Pulse:
    def __init__(self) -> None:
        self._watched: set[str] = set()
        self._next: asyncio.Task[News] | None = None

    async def news(self, read: Reading, study: str) -> News:
        """The next look at the studies that are watched; whoever waits for it shares it."""
        self._watched.add(study)
        if self._next is None or self._next.done():
            self._next = asyncio.create_task(self._look(read))
        return await asyncio.shield(self._next)

    async def _look(self, read: Reading) -> News:
        await anyio.sleep(SECONDS)
        watched, self._watched = self._watched, set()
        return await run_in_threadpool(read, events.news, watched)
