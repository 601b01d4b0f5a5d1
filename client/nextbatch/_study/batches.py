"""The batches of a study: ask for the next one, read earlier ones and what is pending."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from .._json import parse
from .._sync_and_async import ConnectionT, sync_and_async
from ..answers import BatchDetails
from ..batch import Batch, Suggestion
from ..errors import StillComputing
from ..previews import Preview
from .base import StudyBase

POLL_SECONDS = 20.0  # how long one request waits for a batch before it is sent again


class Terms(TypedDict, total=False):
    """What an ask can request beyond a size."""

    where: str | Sequence[str]
    """Conditions that every chosen candidate meets: "temperature >= 80", "solvent in (DMF, THF)", "not measured"."""
    include: Sequence[str] | Mapping[str, int]
    """Keys of candidates that are in the batch in any case; as a mapping, with how often each is to be measured."""
    exclude: Sequence[str]
    """Keys of candidates that are not in the batch."""
    same: str | Sequence[str]
    """Columns that have one value in the whole batch."""
    at_most: Mapping[str, int]
    """The most distinct values of a column."""
    per: Mapping[str, int]
    """The most measurements with the same value of a column."""
    wells: int
    """A plate to fill: the number of its wells."""
    budget: float
    """What all measurements may cost, if a column of the list says what one costs."""
    time: float
    """How long all measurements may take, if a column of the list says how long one does."""


class Batches(StudyBase[ConnectionT]):
    @sync_and_async
    async def ask(
        self,
        worker: str = "default",
        *,
        min_size: int | None = None,
        max_size: int | None = None,
        confirm: Preview | str | None = None,
        wait: float | None = None,
        **terms: Unpack[Terms],
    ) -> Batch[ConnectionT]:
        """The next batch for this worker, or its open batch if it has one.

        Waits up to `wait` seconds for the computation (without limit if None), then raises StillComputing; asking again
        later gets the batch. `confirm` issues exactly the batch of a preview that was made with the same arguments, or
        raises Conflict.

        >>> study.ask(worker="bench-2", max_size=3, where="temperature >= 60").worker
        'bench-2'
        """
        confirmed = confirm.preview if isinstance(confirm, Preview) else confirm
        return await self._ask(worker, wait, min_size=min_size, max_size=max_size, confirm=confirmed, **_terms(terms))

    @sync_and_async
    async def preview(
        self,
        worker: str = "default",
        *,
        min_size: int | None = None,
        max_size: int | None = None,
        wait: float | None = None,
        **terms: Unpack[Terms],
    ) -> Preview:
        """The next batch as it would be; nothing is stored.

        >>> study.preview(max_size=3, where="solvent = DMF").size
        2
        """
        body = {"min_size": min_size, "max_size": max_size, "preview": True, **_terms(terms)}
        return parse(Preview, await self._computed(worker, wait, body))

    async def _ask(self, worker: str, wait: float | None = None, **body: Any) -> Batch[ConnectionT]:
        return Batch(self._connection, self._path, await self._computed(worker, wait, body))

    async def _computed(self, worker: str, wait: float | None, body: Mapping[str, Any]) -> Any:
        """The answer to an ask, once it has been computed."""
        poll = POLL_SECONDS if wait is None else min(POLL_SECONDS, wait)
        given = {name: value for name, value in body.items() if value is not None}
        document = {"worker": worker, **given, "wait": poll}
        request = self._connection.request("POST", f"{self._path}/batches", json=document, extra_seconds=poll)
        started = time.monotonic()
        answer = await self._connection.send(request)
        while answer.status_code == 202:
            if wait is not None and time.monotonic() - started >= wait:
                raise StillComputing(f"The batch for {worker} is not ready after {wait:g} seconds. Ask again later.")
            answer = await self._connection.send(request)  # the same request, so that it issues one batch only
        return answer.json()

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


def _terms(terms: Terms) -> dict[str, Any]:
    """Terms as the server reads them."""
    body: dict[str, Any] = dict(terms)
    composition = {name: body.pop(name) for name in ("same", "at_most", "per", "wells") if name in body}
    included = body.get("include")
    if isinstance(included, Mapping):
        body["include"] = [{"key": key, "replicates": replicates} for key, replicates in included.items()]
    return body | ({"composition": composition} if composition else {})
