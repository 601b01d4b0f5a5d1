"""The ledger as it grows, over Server-Sent Events. A broken connection is resumed where it broke."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._connection import AsyncConnection, SyncConnection, run_sync
from ._json import parse
from ._sync_and_async import ConnectionT, Handle, sync_and_async
from .answers import Event

if TYPE_CHECKING:
    import httpx

SILENCE_SECONDS = 30.0  # beyond the time-out; the server sends something every 15 seconds


class Events(Handle[ConnectionT]):
    """An endless iterator of events: use `for event in …`, or `async for event in …`."""

    def __init__(self, connection: ConnectionT, path: str, after: int | None, *, reconnect: bool = True) -> None:
        super().__init__(connection)
        self._path = path
        self._last_id = None if after is None else str(after)
        self._reconnect = reconnect
        self._reconnect_seconds = 2.0
        self._response: httpx.Response | None = None
        self._lines: Any = None
        self._data: list[str] = []

    def __iter__(self: Events[SyncConnection]) -> Events[SyncConnection]:
        return self

    def __next__(self: Events[SyncConnection]) -> Event:
        event = run_sync(self._next())
        if event is None:
            raise StopIteration
        return event

    def __aiter__(self: Events[AsyncConnection]) -> Events[AsyncConnection]:
        return self

    async def __anext__(self: Events[AsyncConnection]) -> Event:
        event = await self._next()
        if event is None:
            raise StopAsyncIteration
        return event

    @sync_and_async
    async def close(self) -> None:
        """Close the connection."""
        await self._disconnect()

    async def _next(self) -> Event | None:
        while True:
            line = await self._next_line()
            if line is None:
                await self._disconnect()
                if not self._reconnect:
                    return None
                await self._connection.sleep(self._reconnect_seconds)
            elif event := self._read_line(line):
                return event

    async def _next_line(self) -> str | None:
        """The next line; None when the connection has ended, for whatever reason."""
        if self._response is None:
            await self._connect()
        from httpx import TransportError  # noqa: PLC0415  (see this package's docstring)

        try:
            return await self._connection.next_line(self._lines)
        except TransportError:
            return None

    async def _connect(self) -> None:
        headers = {} if self._last_id is None else {"Last-Event-ID": self._last_id}
        request = self._connection.request("GET", self._path, headers=headers, extra_seconds=SILENCE_SECONDS)
        self._response = await self._connection.send(request, stream=True)
        self._lines = self._connection.lines(self._response)
        self._data = []

    async def _disconnect(self) -> None:
        response, self._response = self._response, None
        if response is not None:
            await self._connection.close(response)

    def _read_line(self, line: str) -> Event | None:
        """Read one line of the stream; an empty line completes an event."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._last_id = value
        elif name == "retry" and value.isdigit():
            self._reconnect_seconds = int(value) / 1000
        elif name == "data":
            self._data.append(value)
        elif not line and self._data:
            document, self._data = "\n".join(self._data), []
            return parse(Event, json.loads(document))
        return None
