"""Open streams: they end when the server does."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType

from app.api.limits import Places
from app.domain.errors import Overloaded

FULL = "The server has all the streams it can keep; poll instead, or try again."


class Streams:
    def __init__(self, most: int, most_of_one: int) -> None:
        self._places = Places(most, most_of_one)
        self.ending = False

    @contextmanager
    def place(self, key_id: str) -> Iterator[None]:
        """A place among the open streams, for as long as the block lasts."""
        if self.ending:
            raise Overloaded(FULL)
        with self._places.place(key_id, FULL):
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
