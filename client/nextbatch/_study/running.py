"""The whole closed loop: ask, measure in parallel, report, until the budget is spent."""

from __future__ import annotations

from collections.abc import Callable

from .._both import W, both
from .._measuring import Measuring, Objective
from .._progress import Progress, shown_by
from ..answers import Summary
from ..batch import Batch
from ..errors import Conflict
from .batches import Batches
from .standing import Standing

_NOTHING_LEFT = {"study-finished", "candidates-exhausted"}


class Running(Batches[W], Standing[W]):
    @both
    async def run(
        self,
        objective: Objective,
        *,
        budget: int,
        workers: int = 1,
        batch_size: int | None = None,
        worker: str = "run",
        most_failures: int = 10,
        progress: bool | Callable[[Progress], None] | None = None,
    ) -> Summary:
        """Measure with `objective` until `budget` measurements were asked for, or nothing is left to ask.

        `objective(suggestion)` gives one measurement; `suggestion["temperature"]` reads a column. Up to `workers` run
        at the same time, in threads (an async client also takes a coroutine function). An exception is reported as
        failed; after `most_failures` in a row it is raised.

        The budget counts what `worker` was ever asked to measure, so the same call after a crash takes up the batch
        that was open and goes on to the same total. `progress` is shown on a terminal; it can also be a function.

        >>> study.run(lambda suggestion: suggestion["temperature"] / 100, budget=3, worker="script").counts.observations
        3
        """
        issued = await self._batches(worker=worker)
        spent = sum(one.size for one in issued)
        with shown_by(progress, budget) as show:
            measuring = Measuring(self._wire, objective, workers, most_failures, show, self.details)
            for one in issued:
                if one.state == "open":
                    await measuring.measure(await self._batch(one.number))
            while spent < budget:
                most = min(batch_size or budget, budget - spent)
                batch = await self._ask_if_any(worker, most)
                if batch is None:
                    break
                spent += batch.size
                await measuring.measure(batch)
        return await self._summary()

    async def _ask_if_any(self, worker: str, most: int) -> Batch[W] | None:
        try:
            return await self._ask(worker, None, most, None)
        except Conflict as refused:
            if refused.code in _NOTHING_LEFT:
                return None
            raise
