"""A study: its settings and state, how far it is, and the whole loop in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Unpack
from urllib.parse import quote

from ._connection import SyncConnection, run_sync
from ._evaluation import Evaluation, Objective
from ._json import parse
from ._progress import Progress, progress_shown
from ._settings import Changes, Settings
from ._study.backtests import Backtests
from ._study.batches import Batches
from ._study.candidates import Candidates
from ._study.ledger import Ledger
from ._study.observations import Observations
from ._study.reservations import Reservations
from ._study.webhooks import Webhooks
from ._sync_and_async import ConnectionT, sync_and_async
from .answers import Best, StudyDetails, Summary, Trace, Verdict
from .batch import Batch
from .diagnostics import Diagnostics
from .display import Overview
from .errors import Conflict
from .fronts import Front
from .origins import Borrowed

_NOTHING_LEFT_TO_ASK = {"study-finished", "candidates-exhausted"}


class Study(
    Candidates[ConnectionT],
    Batches[ConnectionT],
    Reservations[ConnectionT],
    Observations[ConnectionT],
    Ledger[ConnectionT],
    Backtests[ConnectionT],
    Webhooks[ConnectionT],
):
    """One optimisation on the server. `details` is the study as it was when it was last read."""

    def __repr__(self) -> str:
        return f"<study {self.name}: {self.details.candidates} candidates, {self.details.state}>"

    def _repr_html_(self) -> str:
        """The study at a glance, read from the server when a notebook shows it."""
        if not isinstance(self._connection, SyncConnection):
            return f"<p>{self.name}: <code>await study.overview()</code> shows it at a glance.</p>"
        return run_sync(self._overview())._repr_html_()

    @sync_and_async
    async def refresh(self) -> StudyDetails:
        """Read the study again."""
        return await self._refresh()

    @sync_and_async
    async def change(self, *, reason: str | None = None, **changes: Unpack[Changes]) -> StudyDetails:
        """Change settings. Raises Conflict if somebody changed the study since it was last read."""
        return await self._patch({**changes, "reason": reason}, version=f'"{self.details.version}"')

    @sync_and_async
    async def pause(self, reason: str | None = None) -> StudyDetails:
        """Issue no batches until the study is resumed; results can still be reported."""
        return await self._patch({"state": "paused", "reason": reason})

    @sync_and_async
    async def resume(self, reason: str | None = None) -> StudyDetails:
        """Issue batches again."""
        return await self._patch({"state": "active", "reason": reason})

    @sync_and_async
    async def archive(self, reason: str | None = None) -> StudyDetails:
        """End the study: it can be read, and late results can still be reported. `resume` undoes this."""
        return await self._patch({"state": "archived", "reason": reason})

    @sync_and_async
    async def delete(self, confirm: str, reason: str | None = None) -> None:
        """Delete the study. `confirm` is its name, to show that you mean this one.

        `client.restore` brings it back for some days; then it is erased. Its name can be used again.
        """
        await self._connection.call("DELETE", self._path, params={"confirm": confirm, "reason": reason})

    @sync_and_async
    async def fork(
        self, name: str, *, at: int | None = None, reason: str | None = None, **settings: Unpack[Settings]
    ) -> Study[ConnectionT]:
        """Begin another study as this one was, now or after the event `at`, under other settings.

        What is pending here is abandoned there. Results that were carried over have this study as their `origin`.

        >>> study.fork("suzuki-small-batches", max_batch=2)
        <study suzuki-small-batches: 3 candidates, active>
        """
        body = {"name": name, "at": at, "reason": reason, "configuration": settings}
        answer = await self._connection.call("POST", f"{self._path}/fork", json=body, extra_seconds=600.0)
        return Study(self._connection, parse(StudyDetails, answer.json()))

    @sync_and_async
    async def borrow(self, *studies: str, reason: str | None = None) -> list[Borrowed]:
        """Use the results of earlier studies as hints, as far as they turn out to be; without names, none any more.

        They are matched by the names of the columns and copied as they are now.
        """
        body = {"from": list(studies), "reason": reason}
        answer = await self._connection.call("PUT", f"{self._path}/borrowed", json=body, extra_seconds=60.0)
        return [parse(Borrowed, entry) for entry in answer.json()["borrowed"]]

    @sync_and_async
    async def borrowed(self) -> list[Borrowed]:
        """Which results are borrowed, and how much they count."""
        answer = await self._connection.call("GET", f"{self._path}/borrowed", extra_seconds=60.0)
        return [parse(Borrowed, entry) for entry in answer.json()["borrowed"]]

    @sync_and_async
    async def grant(self, key_id: str) -> None:
        """Give a key access to the study."""
        await self._connection.call("PUT", f"{self._path}/grants/{key_id}")

    @sync_and_async
    async def withdraw(self, key_id: str) -> None:
        """Withdraw a key's access to the study."""
        await self._connection.call("DELETE", f"{self._path}/grants/{key_id}")

    async def _patch(self, change: Mapping[str, Any], version: str = "*") -> StudyDetails:
        body = dict(change)
        if body["reason"] is None:
            del body["reason"]
        answer = await self._connection.call("PATCH", self._path, json=body, headers={"If-Match": version})
        return self._load(answer.json())

    @sync_and_async
    async def summary(self, *, as_of: int | None = None) -> Summary:
        """The study at a glance, now or as it was after an event of the ledger.

        >>> print(study.summary())
        Nothing has been measured yet.
        """
        return await self._summary(as_of)

    async def _summary(self, as_of: int | None = None) -> Summary:
        params = {"as_of": as_of}
        answer = await self._connection.call("GET", f"{self._path}/summary", params=params, extra_seconds=60.0)
        return parse(Summary, answer.json())

    @sync_and_async
    async def best(self) -> Best | None:
        """The best measured candidate by its average value, of those that meet the constraints; None if none does."""
        best = (await self._summary()).best_observed
        if best is None:
            return None
        answer = await self._connection.call("GET", f"{self._path}/candidates/{quote(best.key, safe='')}")
        return replace(best, features=answer.json()["features"])

    @sync_and_async
    async def certificate(self) -> Verdict:
        """The recommended candidate, how much better another could be, and whether to stop."""
        answer = await self._connection.call("GET", f"{self._path}/certificate", extra_seconds=60.0)
        return parse(Verdict, answer.json())

    @sync_and_async
    async def front(self, *, as_of: int | None = None) -> Front:
        """The best compromises between several objectives, measured and expected; also as they were after an event."""
        params = {"as_of": as_of}
        answer = await self._connection.call("GET", f"{self._path}/front", params=params, extra_seconds=60.0)
        return parse(Front, answer.json())

    @sync_and_async
    async def diagnostics(self) -> Diagnostics:
        """Whether to trust the model: each result as the others predict it, what every column does, outliers."""
        answer = await self._connection.call("GET", f"{self._path}/diagnostics", extra_seconds=60.0)
        return parse(Diagnostics, answer.json())

    @sync_and_async
    async def trace(self) -> Trace:
        """The course of the study, batch by batch and value by value."""
        return await self._trace()

    async def _trace(self) -> Trace:
        answer = await self._connection.call("GET", f"{self._path}/trace", extra_seconds=60.0)
        return parse(Trace, answer.json())

    @sync_and_async
    async def overview(self) -> Overview:
        """Summary and trace together: readable text when printed, a table and a curve in a notebook."""
        return await self._overview()

    async def _overview(self) -> Overview:
        return Overview(await self._summary(), await self._trace())

    @sync_and_async
    async def run(
        self,
        objective: Objective,
        *,
        budget: int,
        workers: int = 1,
        batch_size: int | None = None,
        worker: str = "run",
        max_failures: int = 10,
        progress: bool | Callable[[Progress], None] | None = None,
    ) -> Summary:
        """Ask, measure with `objective` and report, until `budget` measurements are made or nothing is left to ask.

        `objective(suggestion)` returns one measured value; `suggestion["temperature"]` reads a column. Up to `workers`
        measurements run at the same time, in threads (an async client also takes a coroutine function). An exception
        is reported as a failed measurement; after `max_failures` in a row, ObjectiveFailed is raised.

        The budget counts everything that `worker` was ever asked to measure. The same call after a crash therefore
        finishes the open batch and continues to the same total. Progress is shown on a terminal; pass a function to
        handle it yourself.

        >>> study.run(lambda suggestion: suggestion["temperature"] / 100, budget=3, worker="script").counts.observations
        3
        """
        issued = await self._batches(worker=worker)
        spent = sum(batch.size for batch in issued)
        with progress_shown(progress, budget) as show:
            evaluation = Evaluation(self._connection, objective, workers, max_failures, show, self.details)
            for details in issued:
                if details.state == "open":
                    await evaluation.measure(await self._batch(details.number))
            while spent < budget:
                batch = await self._ask_unless_done(worker, min(batch_size or budget, budget - spent))
                if batch is None:
                    break
                spent += batch.size
                await evaluation.measure(batch)
        return await self._summary()

    async def _ask_unless_done(self, worker: str, max_size: int) -> Batch[ConnectionT] | None:
        try:
            return await self._ask(worker, max_size=max_size)
        except Conflict as refused:
            is_spent = refused.facts.get("term") == "study_budget"
            if refused.code in _NOTHING_LEFT_TO_ASK or is_spent:
                return None
            raise
