"""The ledger of a study: follow it, verify it, replay a batch, export everything."""

from __future__ import annotations

from pathlib import Path

from .._events import Events
from .._json import parse
from .._sync_and_async import ConnectionT, sync_and_async
from ..answers import Event
from ..checks import Replayed, Verified
from .base import StudyBase


class Ledger(StudyBase[ConnectionT]):
    def events(self, *, after: int | None = None, reconnect: bool = True) -> Events[ConnectionT]:
        """The ledger as it grows: iterate with `for` or `async for`. A lost connection is resumed where it broke.

        Starts after event number `after`, by default with the next event.
        """
        return Events(self._connection, f"{self._path}/events/live", after, reconnect=reconnect)

    @sync_and_async
    async def history(self, *, after: int = 0) -> list[Event]:
        """The ledger up to now, oldest first."""
        return [parse(Event, entry) for entry in await self._entries("events", after=after)]

    @sync_and_async
    async def verify(self) -> Verified:
        """Check every hash of the ledger, and compute every row and array anew that follows from it."""
        answer = await self._connection.call("POST", f"{self._path}/verify", extra_seconds=600.0)
        return parse(Verified, answer.json())

    @sync_and_async
    async def replay(self, number: int) -> Replayed:
        """Compute a batch again and compare it bit for bit."""
        answer = await self._connection.call("POST", f"{self._path}/batches/{number}/replay", extra_seconds=600.0)
        return parse(Replayed, answer.json())

    @sync_and_async
    async def export(self, path: str | Path) -> Path:
        """Write the whole study to one archive file, which `client.import_study` reads."""
        answer = await self._connection.call("GET", f"{self._path}/archive", extra_seconds=600.0)
        Path(path).write_bytes(answer.content)
        return Path(path)
