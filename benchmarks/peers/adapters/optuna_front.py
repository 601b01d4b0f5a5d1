"""Optuna's GPSampler with its defaults for several objectives, snapped to the list."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import optuna
from optuna.trial import TrialState, create_trial

from benchmarks.peers.adapters.adapter import Given
from benchmarks.peers.adapters.fronts import FrontAdapter, Row
from benchmarks.peers.adapters.optuna import parameter_range


class OptunaFront(FrontAdapter):
    def __init__(self, given: Given, objectives: int) -> None:
        super().__init__(given, objectives)
        self._X = given.features()
        sampler = optuna.samplers.GPSampler(seed=given.seed, deterministic_objective=not given.noisy)
        self._study = optuna.create_study(directions=["maximize"] * objectives, sampler=sampler)
        self._space = {name: parameter_range(column) for name, column in zip(given.columns, given.values, strict=True)}
        self._open: list[Any] = []

    def tell(self, rows: Sequence[int], values: Sequence[Row]) -> None:
        """The trials asked for end without a value: what was measured is their nearest candidates."""
        super().tell(rows, values)
        while self._open:
            self._study.tell(self._open.pop(), state=TrialState.FAIL)
        for row, measured in zip(rows, values, strict=True):
            if measured is not None:
                params = self.given.candidate(row)
                self._study.add_trial(create_trial(params=params, distributions=self._space, values=list(measured)))

    def ask(self, q: int) -> list[int]:
        self._open = [self._study.ask(self._space) for _ in range(q)]
        rows: list[int] = []
        for point in self.given.encoded([trial.params for trial in self._open]):
            left = np.setdiff1d(self.choices(), rows)
            rows.append(int(left[np.argmin(np.sum((self._X[left] - point) ** 2, axis=1))]))
        return rows


def start(given: Given, variant: str) -> FrontAdapter:
    return OptunaFront(given, int(variant))
