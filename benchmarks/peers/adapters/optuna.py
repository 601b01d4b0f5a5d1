"""Optuna's GPSampler with its defaults (the first ten trials at random), snapped to the list."""

from collections.abc import Sequence
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from benchmarks.peers.adapters.adapter import Adapter, Given, is_text, is_whole
from benchmarks.peers.adapters.snapping import Snapping

WIDE = 100
"""Whole numbers of a wider range are floats: searching them one by one takes Optuna minutes."""

optuna.logging.set_verbosity(optuna.logging.ERROR)


class Optuna(Snapping):
    def __init__(self, given: Given) -> None:
        super().__init__(given)
        sampler = optuna.samplers.GPSampler(seed=given.seed, deterministic_objective=not given.noisy)
        self._study = optuna.create_study(direction="maximize", sampler=sampler)
        self._space = {name: parameter_range(column) for name, column in zip(given.columns, given.values, strict=True)}
        self._open: list[Any] = []

    def tell(self, rows: Sequence[int], values: Sequence[float]) -> None:
        """The trials asked for end without a value: what was measured is their nearest candidates."""
        super().tell(rows, values)
        while self._open:
            self._study.tell(self._open.pop(), state=TrialState.FAIL)
        for row, value in zip(rows, values, strict=True):
            params = self.given.candidate(row)
            self._study.add_trial(optuna.trial.create_trial(params=params, distributions=self._space, value=value))

    def ask(self, q: int) -> list[int]:
        self._open = [self._study.ask(self._space) for _ in range(q)]
        return self.nearest([trial.params for trial in self._open])


def parameter_range(column: list[Any]) -> BaseDistribution:
    if is_text(column):
        return CategoricalDistribution(sorted(set(column)))
    if is_whole(column) and max(column) - min(column) <= WIDE:
        return IntDistribution(min(column), max(column))
    return FloatDistribution(min(column), max(column))


def start(given: Given, variant: str) -> Adapter:  # noqa: ARG001
    return Optuna(given)
