"""The reservations of a study: candidates that somebody will measure without a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from .._json import parse
from .._sync_and_async import ConnectionT, sync_and_async
from .base import StudyBase


@dataclass(frozen=True)
class Reservation:
    """A candidate that `worker` will measure without a batch."""

    key: str
    worker: str
    reserved_at: datetime
    reason: str | None = None


class Reservations(StudyBase[ConnectionT]):
    @sync_and_async
    async def reserve(
        self, keys: str | Sequence[str], worker: str = "default", *, reason: str | None = None
    ) -> list[Reservation]:
        """Reserve candidates, all or none: other asks do not suggest them, and count them as pending.

        A report of the candidate ends its reservation, and so does a batch of the same worker that includes it.
        Returns everything that is reserved in the study.

        >>> [reservation.key for reservation in study.reserve("A1", worker="bench-2")]
        ['A1']
        """
        body = {"keys": [keys] if isinstance(keys, str) else list(keys), "worker": worker, "reason": reason}
        return _read(await self._connection.call("POST", f"{self._path}/reservations", json=body))

    @sync_and_async
    async def release(self, key: str, *, reason: str | None = None) -> list[Reservation]:
        """Release a candidate, if it is reserved. Returns the reservations that are left.

        >>> study.release("A1")
        []
        """
        address = f"{self._path}/reservations/{quote(key, safe='')}"
        return _read(await self._connection.call("DELETE", address, params={"reason": reason}))

    @sync_and_async
    async def reservations(self, worker: str | None = None) -> list[Reservation]:
        """The reservations of a study, or those of one worker, oldest first."""
        params = {"worker": worker}
        return _read(await self._connection.call("GET", f"{self._path}/reservations", params=params))


def _read(answer: Any) -> list[Reservation]:
    return [parse(Reservation, entry) for entry in answer.json()["reservations"]]
