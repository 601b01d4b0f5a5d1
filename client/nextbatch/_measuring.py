"""Measuring a batch with a function, several suggestions at a time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeAlias

from ._both import W
from ._progress import Show
from .answers import Details
from .batch import Batch, Suggestion
from .errors import ObjectiveFailed

Objective: TypeAlias = Callable[[Suggestion[Any]], Any]
"""One measurement of a suggestion: a number, or (for an async client) a coroutine of one."""


class Measuring(Generic[W]):
    """Knows the function, how many may run at a time, and how the last ones went."""

    def __init__(
        self, wire: W, objective: Objective, workers: int, most_failures: int, show: Show, details: Details
    ) -> None:
        self._wire = wire
        self._objective = objective
        self._workers = workers
        self._show = show
        self._better = max if details.configuration["direction"] == "maximize" else min
        self._last: deque[BaseException | None] = deque(maxlen=most_failures)
        self._best: tuple[float, str] | None = None

    async def measure(self, batch: Batch[W]) -> None:
        """Everything in the batch that still waits."""
        await self._wire.each(self._one, batch.pending, self._workers)

    async def _one(self, suggestion: Suggestion[W]) -> None:
        try:
            values = [await self._value(suggestion) for _ in range(suggestion.replicates)]
        except Exception as error:
            await suggestion._tell({"failed": {"reason": _reason(error)}})  # noqa: SLF001
            self._note(error)
            self._show(suggestion.replicates, self._best)
        else:
            await suggestion._tell({"values": values})  # noqa: SLF001
            self._note(None)
            self._best = self._better((*([self._best] if self._best else []), (self._better(values), suggestion.key)))
            self._show(suggestion.replicates, self._best)

    async def _value(self, suggestion: Suggestion[W]) -> float:
        value = float(await self._wire.evaluate(self._objective, suggestion))
        if not math.isfinite(value):
            raise ValueError(f"the objective gave {value}")
        return value

    def _note(self, error: BaseException | None) -> None:
        self._last.append(error)
        if error is not None and len(self._last) == self._last.maxlen and all(self._last):
            raise ObjectiveFailed(f"the objective failed {len(self._last)} times in a row: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:2000]
