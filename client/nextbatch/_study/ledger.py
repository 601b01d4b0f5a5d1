"""The ledger: follow it, check it, replay a batch from it, take all of it away."""

from __future__ import annotations

from pathlib import Path

from .._both import W, both
from .._events import Events
from .._reading import shaped
from ..answers import Event, Replayed, Verified
from .part import StudyPart


class Ledger(StudyPart[W]):
    def events(self, *, after: int | None = None, reconnect: bool = True) -> Events[W]:
        """The ledger as it grows: iterate (`for` or `async for`); a lost line is taken up where it broke.

        Begins after event number `after`, else with what comes next.
        """
        return Events(self._wire, f"{self._path}/events/live", after, reconnect=reconnect)

    @both
    async def history(self, *, after: int = 0) -> list[Event]:
        """The ledger up to now, oldest first."""
        return [shaped(Event, one) for one in await self._pages("events", after=after)]

    @both
    async def verify(self) -> Verified:
        """Check every hash of the ledger."""
        return shaped(Verified, (await self._wire.call("POST", f"{self._path}/verify", wait=600.0)).json())

    @both
    async def replay(self, number: int) -> Replayed:
        """Compute a batch again and compare it bit for bit."""
        answer = await self._wire.call("POST", f"{self._path}/batches/{number}/replay", wait=600.0)
        return shaped(Replayed, answer.json())

    @both
    async def export(self, path: str | Path) -> Path:
        """Write the whole study into one archive, to be kept or imported elsewhere."""
        answer = await self._wire.call("GET", f"{self._path}/archive", wait=600.0)
        Path(path).write_bytes(answer.content)
        return Path(path)
