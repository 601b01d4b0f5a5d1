"""Evaluate the objective of `study.run` on a batch, several suggestions at a time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeAlias

from ._progress import Show
from ._sync_and_async import ConnectionT
from .answers import StudyDetails
from .batch import Batch, Suggestion
from .errors import ObjectiveFailed

Objective: TypeAlias = Callable[[Suggestion[Any]], Any]
"""Measures a suggestion once: returns a number, or (for an async client) is a coroutine function."""


class Evaluation(Generic[ConnectionT]):
    """The objective, how many may run at a time, the best value so far and the latest failures."""

    def __init__(
        self,
        connection: ConnectionT,
        objective: Objective,
        workers: int,
        max_failures: int,
        show: Show,
        details: StudyDetails,
    ) -> None:
        self._connection = connection
        self._objective = objective
        self._workers = workers
        self._show = show
        self._better = min if details.configuration["direction"] == "minimize" else max
        self._latest_errors: deque[Exception | None] = deque(maxlen=max_failures)
        self._best: tuple[float, str] | None = None

    async def measure(self, batch: Batch[ConnectionT]) -> None:
        """Measure and report every pending suggestion of the batch."""
        await self._connection.run_all(self._measure, batch.pending, self._workers)

    async def _measure(self, suggestion: Suggestion[ConnectionT]) -> None:
        try:
            values = [await self._evaluate(suggestion) for _ in range(suggestion.replicates)]
        except Exception as error:
            await suggestion._send_report({"failed": {"reason": _reason(error)}})  # noqa: SLF001
            self._note_failure(error)
        else:
            await suggestion._send_report({"values": values})  # noqa: SLF001
            self._note_values(values, suggestion.key)
        self._show(suggestion.replicates, self._best)

    async def _evaluate(self, suggestion: Suggestion[ConnectionT]) -> float:
        value = float(await self._connection.evaluate(self._objective, suggestion))
        if not math.isfinite(value):
            raise ValueError(f"the objective returned {value}")
        return value

    def _note_values(self, values: list[float], key: str) -> None:
        self._latest_errors.append(None)
        best_here = (self._better(values), key)
        self._best = best_here if self._best is None else self._better(self._best, best_here)

    def _note_failure(self, error: Exception) -> None:
        self._latest_errors.append(error)
        if len(self._latest_errors) == self._latest_errors.maxlen and all(self._latest_errors):
            failures = len(self._latest_errors)
            raise ObjectiveFailed(f"The objective failed {failures} times in a row: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
