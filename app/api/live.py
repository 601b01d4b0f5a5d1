"""Live events: how many streams may be open, when they end, and one look for news for all of them."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

import anyio
from starlette.concurrency import run_in_threadpool

from app.api.limits import ConcurrencyLimit
from app.domain.errors import Overloaded
from app.services.transactions import ReadTransactions
from app.services.use_cases import events
from app.services.use_cases.events import News

FULL = "The server has as many open streams as it can keep. Poll instead, or try again."
SECONDS = 0.5


class Streams:
    """The open streams of a process. They end when the server does."""

    def __init__(self, most: int, most_per_key: int) -> None:
        self._limit = ConcurrencyLimit(most, most_per_key)
        self.ending = False

    @property
    def open(self) -> int:
        return self._limit.taken

    @contextmanager
    def slot(self, key_id: str) -> Iterator[None]:
        """A slot for one stream, for as long as the block lasts."""
        if self.ending:
            raise Overloaded(FULL)
        with self._limit.slot(key_id, FULL):
            yield

    def end_on_signals(self) -> None:
        """End the streams as soon as the server is told to stop: it waits for its connections to close."""
        if current_thread() is not main_thread():
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ending_then(signal.getsignal(number)))

    def _ending_then(self, earlier: object) -> Callable[[int, FrameType | None], None]:
        def handle(number: int, frame: FrameType | None) -> None:
            self.ending = True
            if callable(earlier):
                earlier(number, frame)

        return handle


class LedgerPoller:
    """Looks for new events every half second with two short queries, however many streams wait for them."""

    def __init__(self) -> None:
        self._watched: set[str] = set()
        self._next: asyncio.Task[News] | None = None

    async def news(self, tx: ReadTransactions, study: str) -> News:
        """The result of the next look, which all waiting streams share."""
        self._watched.add(study)
        if self._next is None or self._next.done():
            self._next = asyncio.create_task(self._look(tx))
        return await asyncio.shield(self._next)

    async def _look(self, tx: ReadTransactions) -> News:
        await anyio.sleep(SECONDS)
        watched, self._watched = self._watched, set()
        return await run_in_threadpool(tx.read, events.news, watched)
