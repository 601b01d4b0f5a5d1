"""The batches of a study: ask for the next one, read earlier ones and what is pending."""

from __future__ import annotations

import time

from .._json import parse
from .._sync_and_async import ConnectionT, sync_and_async
from ..answers import BatchDetails
from ..batch import Batch, Suggestion
from ..errors import StillComputing
from .base import StudyBase

POLL_SECONDS = 20.0  # how long one request waits for a batch before it is sent again


class Batches(StudyBase[ConnectionT]):
    @sync_and_async
    async def ask(
        self,
        worker: str = "default",
        *,
        min_size: int | None = None,
        max_size: int | None = None,
        wait: float | None = None,
    ) -> Batch[ConnectionT]:
        """The next batch for this worker, or its open batch if it has one.

        Waits up to `wait` seconds for the computation (without limit if None), then raises StillComputing; asking again
        later gets the batch.

        >>> study.ask(worker="bench-2", max_size=3).worker
        'bench-2'
        """
        return await self._ask(worker, min_size, max_size, wait)

    async def _ask(
        self, worker: str, min_size: int | None, max_size: int | None, wait: float | None
    ) -> Batch[ConnectionT]:
        body = {"worker": worker, "min_size": min_size, "max_size": max_size}
        poll = POLL_SECONDS if wait is None else min(POLL_SECONDS, wait)
        given = {name: value for name, value in body.items() if value is not None}
        request = self._connection.request(
            "POST", f"{self._path}/batches", json={**given, "wait": poll}, extra_seconds=poll
        )
        started = time.monotonic()
        answer = await self._connection.send(request)
        while answer.status_code == 202:
            if wait is not None and time.monotonic() - started >= wait:
                raise StillComputing(f"The batch for {worker} is not ready after {wait:g} seconds. Ask again later.")
            answer = await self._connection.send(request)  # the same request, so that it issues one batch only
        return Batch(self._connection, self._path, answer.json())

    @sync_and_async
    async def batch(self, number: int) -> Batch[ConnectionT]:
        """A batch by its number."""
        return await self._batch(number)

    async def _batch(self, number: int) -> Batch[ConnectionT]:
        answer = await self._connection.call("GET", f"{self._path}/batches/{number}")
        return Batch(self._connection, self._path, answer.json())

    @sync_and_async
    async def batches(self, *, worker: str | None = None, state: str | None = None) -> list[BatchDetails]:
        """The history of batches, oldest first."""
        return await self._batches(worker=worker, state=state)

    async def _batches(self, **params: str | None) -> list[BatchDetails]:
        return [parse(BatchDetails, entry) for entry in await self._entries("batches", **params)]

    @sync_and_async
    async def bench(self, worker: str | None = None, *, state: str = "pending") -> list[Suggestion[ConnectionT]]:
        """The suggestions that a worker has to measure, or all workers if None."""
        params = {"worker": worker, "state": state}
        answer = await self._connection.call("GET", f"{self._path}/suggestions", params=params)
        return [Suggestion(self._connection, self._path, entry) for entry in answer.json()["suggestions"]]
