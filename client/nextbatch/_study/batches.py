"""Batches: ask for the next one, look at earlier ones, and at what is on a bench."""

from __future__ import annotations

import time

from .._both import W, both
from .._reading import shaped
from ..answers import BatchBrief
from ..batch import Batch, Suggestion
from ..errors import StillComputing
from .part import StudyPart

PATIENCE = 20.0  # seconds that one request waits for a batch before it asks again


class Batches(StudyPart[W]):
    @both
    async def ask(
        self,
        worker: str = "default",
        *,
        min_size: int | None = None,
        max_size: int | None = None,
        wait: float | None = None,
    ) -> Batch[W]:
        """The next batch for this worker, or the one it has not finished yet.

        A long computation is waited for, up to `wait` seconds (for ever if None); then StillComputing is raised and the
        same ask finds the batch later.

        >>> study.ask(worker="bench-2", max_size=3).worker
        'bench-2'
        """
        return await self._ask(worker, min_size, max_size, wait)

    async def _ask(self, worker: str, min_size: int | None, max_size: int | None, wait: float | None) -> Batch[W]:
        body = {"worker": worker, "min_size": min_size, "max_size": max_size}
        patience = PATIENCE if wait is None else min(PATIENCE, wait)
        wanted = {**{name: value for name, value in body.items() if value is not None}, "wait": patience}
        request = self._wire.request("POST", f"{self._path}/batches", json=wanted, wait=patience)
        started = time.monotonic()
        while (answer := await self._wire.deliver(request)).status_code == 202:  # the same request: one batch, once
            if wait is not None and time.monotonic() - started >= wait:
                raise StillComputing(f"the batch for {worker} is not there after {wait:g} seconds; ask again")
        return Batch(self._wire, self._path, answer.json())

    @both
    async def batch(self, number: int) -> Batch[W]:
        """A batch by its number."""
        return await self._batch(number)

    async def _batch(self, number: int) -> Batch[W]:
        answer = await self._wire.call("GET", f"{self._path}/batches/{number}")
        return Batch(self._wire, self._path, answer.json())

    @both
    async def batches(self, *, worker: str | None = None, state: str | None = None) -> list[BatchBrief]:
        """The history of batches, oldest first."""
        return await self._batches(worker=worker, state=state)

    async def _batches(self, **params: str | None) -> list[BatchBrief]:
        return [shaped(BatchBrief, one) for one in await self._pages("batches", **params)]

    @both
    async def bench(self, worker: str | None = None, *, state: str = "pending") -> list[Suggestion[W]]:
        """What is on a worker's bench, or on everybody's."""
        params = {"worker": worker, "state": state}
        answer = await self._wire.call("GET", f"{self._path}/suggestions", params=params)
        return [Suggestion(self._wire, self._path, one) for one in answer.json()["suggestions"]]
