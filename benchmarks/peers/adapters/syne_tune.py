"""Syne Tune's Bayesian optimisation, held to the list by `restrict_configurations`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from syne_tune.backend.trial_status import Trial
from syne_tune.config_space import choice, randint, uniform
from syne_tune.optimizer.baselines import BayesianOptimization

from benchmarks.peers.adapters.adapter import Adapter, Given, is_text, is_whole

TARGET = "objective"


class SyneTune(Adapter):
    """The first rows told become `points_to_evaluate`: the scheduler suggests them first, and gets their values."""

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self._configurations = [given.candidate(row) for row in range(given.size)]
        self._row = {_key(one): row for row, one in enumerate(self._configurations)}
        self._space = {name: _domain(column) for name, column in zip(given.columns, given.values, strict=True)}
        self._trials: dict[tuple[Any, ...], Trial] = {}
        self._asked = 0

    def tell(self, rows: Sequence[int], values: Sequence[float]) -> None:
        if not self.rows:
            self._scheduler = self._begun(rows)
            self.ask(len(rows))
        super().tell(rows, values)
        for row, value in zip(rows, values, strict=True):
            trial = self._trials.pop(_key(self._configurations[row]))
            self._scheduler.on_trial_complete(trial, {TARGET: value})

    def ask(self, q: int) -> list[int]:
        return [self._suggested() for _ in range(q)]

    def _suggested(self) -> int:
        configuration = self._scheduler.suggest(self._asked).config
        trial = Trial(self._asked, configuration, datetime.now())  # noqa: DTZ005
        self._scheduler.on_trial_add(trial)
        self._asked += 1
        self._trials[_key(configuration)] = trial
        return self._row[_key(configuration)]

    def _begun(self, rows: Sequence[int]) -> Any:
        options = {"restrict_configurations": list(self._configurations), "debug_log": False}
        return BayesianOptimization(
            self._space,
            metric=TARGET,
            mode="max",
            random_seed=self.given.seed,
            points_to_evaluate=[self._configurations[row] for row in rows],
            search_options={**options, "skip_local_optimization": True},
        )


def _key(configuration: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(configuration[name] for name in sorted(configuration))


def _domain(column: list[Any]) -> Any:
    if is_text(column) or len(set(column)) == 1:
        return choice(sorted(set(column)))
    if is_whole(column):
        return randint(min(column), max(column))
    return uniform(min(column), max(column))


def start(given: Given, variant: str) -> Adapter:  # noqa: ARG001
    return SyneTune(given)
