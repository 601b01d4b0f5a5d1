"""The ledger as it grows, over Server-Sent Events; a line that breaks is taken up where it broke."""

from __future__ import annotations

import json
from typing import Any

import httpx

from ._awaiting import Awaiting
from ._blocking import Blocking, finish
from ._both import Handle, W, both
from ._reading import shaped
from .answers import Event

QUIET = 30.0  # seconds beyond the time-out: the server sends a beat every 15


class Events(Handle[W]):
    """An endless iterator of events: `for event in …`, or `async for event in …`."""

    def __init__(self, wire: W, path: str, after: int | None, *, reconnect: bool = True) -> None:
        super().__init__(wire)
        self._path = path
        self._seen = None if after is None else str(after)
        self._reconnect = reconnect
        self._response: httpx.Response | None = None
        self._lines: Any = None
        self._pause = 2.0
        self._data: list[str] = []

    def __iter__(self: Events[Blocking]) -> Events[Blocking]:
        return self

    def __next__(self: Events[Blocking]) -> Event:
        event = finish(self._next())
        if event is None:
            raise StopIteration
        return event

    def __aiter__(self: Events[Awaiting]) -> Events[Awaiting]:
        return self

    async def __anext__(self: Events[Awaiting]) -> Event:
        event = await self._next()
        if event is None:
            raise StopAsyncIteration
        return event

    @both
    async def close(self) -> None:
        """Hang up."""
        await self._hang_up()

    async def _next(self) -> Event | None:
        while True:
            line = await self._line()
            if line is None:
                await self._hang_up()
                if not self._reconnect:
                    return None
                await self._wire.pause(self._pause)
            elif event := self._take(line):
                return event

    async def _line(self) -> str | None:
        """The next line; None where the connection ends, for whatever reason."""
        if self._response is None:
            await self._open()
        try:
            return await self._wire.next_line(self._lines)
        except httpx.TransportError:
            return None

    async def _open(self) -> None:
        headers = {"Last-Event-ID": self._seen} if self._seen is not None else {}
        request = self._wire.request("GET", self._path, headers=headers, wait=QUIET)
        self._response = await self._wire.deliver(request, stream=True)
        self._lines = self._wire.lines(self._response)
        self._data = []

    async def _hang_up(self) -> None:
        response, self._response = self._response, None
        if response is not None:
            await self._wire.close(response)

    def _take(self, line: str) -> Event | None:
        """One line of the stream; an empty one ends an event."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._seen = value
        elif name == "retry" and value.isdigit():
            self._pause = int(value) / 1000
        elif name == "data":
            self._data.append(value)
        elif not line and self._data:
            document, self._data = "\n".join(self._data), []
            return shaped(Event, json.loads(document))
        return None
