"""Ax with its default generation strategy, snapped to the list."""

from collections.abc import Sequence
from typing import Any

from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig

from benchmarks.peers.adapters.adapter import Adapter, Given, is_text, is_whole
from benchmarks.peers.adapters.snapping import Snapping

TARGET = "objective"


class Ax(Snapping):
    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self._columns = {
            name: column for name, column in zip(given.columns, given.values, strict=True) if len(set(column)) > 1
        }
        self._client = Client(random_seed=given.seed)
        self._client.configure_experiment([_parameter(name, column) for name, column in self._columns.items()])
        self._client.configure_optimization(TARGET)
        self._open: list[int] = []

    def tell(self, rows: Sequence[int], values: Sequence[float]) -> None:
        """The trials asked for are abandoned: what was measured is their nearest candidates."""
        super().tell(rows, values)
        while self._open:
            self._client.mark_trial_abandoned(self._open.pop())
        for row, value in zip(rows, values, strict=True):
            candidate = self.given.candidate(row)
            trial = self._client.attach_trial({name: candidate[name] for name in self._columns})
            self._client.complete_trial(trial, {TARGET: value})

    def ask(self, q: int) -> list[int]:
        """As many points as Ax gives at a time, until there are enough."""
        points: list[dict[str, Any]] = []
        while len(points) < q:
            trials = self._client.get_next_trials(q - len(points))
            self._open += trials
            points += trials.values()
        constant = self.given.candidate(0)
        return self.nearest([constant | point for point in points])


def _parameter(name: str, column: list[Any]) -> Any:
    if is_text(column):
        return ChoiceParameterConfig(name, sorted(set(column)), "str", is_ordered=False)
    return RangeParameterConfig(name, (min(column), max(column)), "int" if is_whole(column) else "float")


def start(given: Given, variant: str) -> Adapter:  # noqa: ARG001
    return Ax(given)
