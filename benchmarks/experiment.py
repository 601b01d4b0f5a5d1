"""One experiment of the paper's section 5, the same steps for every implementation: noise and draws are addressed.

Seconds are those of the processor, with one thread: as on the clock of a quiet machine, and steadier on a busy one.
"""

import time
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.spatial.distance  # noqa: F401  (the kernels import it when they first need it: not a part of any run)

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import Ask, EngineSettings, State, alpha, choose, measure, rng_at, start
from app.engine.kernels import Gaussian
from app.engine.settings import RuleName
from benchmarks import literal
from benchmarks.datasets import Problem

NOISE = 0.01
BANDWIDTHS = defaultdict(lambda: 10.0, abalone=17.5, cadata=12.5)
"""The paper's table of bandwidths, Global-BBKB; something as smooth for other sets."""


@dataclass
class Trace:
    """What a run did, batch by batch; batch 0 is the random start."""

    batches: list[IndexArray] = field(default_factory=list)
    dictionaries: list[IndexArray] = field(default_factory=list)
    """The one in force after each batch."""
    seconds: list[float] = field(default_factory=list)
    """Time since the start, after each batch."""

    @property
    def sizes(self) -> list[int]:
        """Of the dictionaries."""
        return [len(S) for S in self.dictionaries]

    @property
    def added(self) -> list[int]:
        """How many members entered after each batch."""
        before = [np.zeros(0, dtype=np.int64), *self.dictionaries]
        return [len(np.setdiff1d(S, old)) for old, S in zip(before, self.dictionaries, strict=False)]


@dataclass(frozen=True)
class Experiment:
    """A problem, the settings, and all randomness of the measurements."""

    problem: Problem
    settings: EngineSettings
    horizon: int
    exploration: float = 1.0
    """Multiplies the alpha of Theorem 2; 1 is the theory."""

    @classmethod
    def of_the_paper(
        cls, problem: Problem, rule: RuleName, horizon: int, exploration: float, seed: int
    ) -> "Experiment":
        """λ = ξ², F = 1, δ = 1/T, q̄ = 2, C̃ = 2, Theorem 2's beta, and the paper's bandwidth."""
        settings = EngineSettings(
            Gaussian(BANDWIDTHS[problem.name]),
            lam=NOISE**2,
            xi=NOISE,
            F=1.0,
            delta=1 / horizon,
            rule=rule,
            confidence="tight",
            seed=seed,
            focus=exploration,
        )
        return cls(problem, settings, horizon, exploration)

    @property
    def first(self) -> IndexArray:
        """Two random first candidates."""
        chosen = rng_at(self.settings.seed, "first", 0).choice(len(self.problem.f), 2, replace=False)
        return chosen.astype(np.int64)

    def values(self, batch: IndexArray, before: int) -> FloatArray:
        """Noisy measurements of a batch, `before` others having been made."""
        noisy: FloatArray = self.problem.f[batch] + self._noise[before : before + len(batch)]
        return noisy

    @cached_property
    def _noise(self) -> FloatArray:
        return rng_at(self.settings.seed, "noise", 0).normal(scale=NOISE, size=self.horizon)

    def draw(self, step: int, measured: IndexArray, chances: FloatArray) -> BoolArray:
        """The engine's own draw of the dictionary, for the other implementations."""
        drawn: BoolArray = (
            rng_at(self.settings.seed, "dictionary", step).random(len(self.problem.f))[measured] < chances
        )
        return drawn

    def regret_ratio(self, batches: list[IndexArray]) -> float:
        """Cumulative regret over that of uniform choice in expectation."""
        f = self.problem.f
        picks = np.concatenate(batches)
        return float((f.max() - f[picks]).mean() / (f.max() - f.mean()))


def run_engine(experiment: Experiment) -> Trace:
    """The engine, batch by batch."""
    trace, began = Trace(), time.process_time()
    state = _take(start(experiment.problem.X, experiment.settings), experiment, experiment.first, trace, began)
    while (done := sum(map(len, trace.batches))) < experiment.horizon:
        ask = Ask(len(trace.batches), max_size=experiment.horizon - done, alpha=experiment.exploration * alpha(state))
        state = _take(state, experiment, choose(state, ask).picks, trace, began)
    trace.seconds[-1] += _seconds_to_know_all(state)
    return trace


def _seconds_to_know_all(state: State) -> float:
    """The time that a state with a focus needs for the candidates it left for later."""
    began = time.process_time()
    _ = state.whole
    return time.process_time() - began


def _take(state: State, experiment: Experiment, batch: IndexArray, trace: Trace, began: float) -> State:
    after = measure(state, batch, experiment.values(batch, int(state.counts.sum())), expected=False)
    trace.batches.append(batch)
    trace.dictionaries.append(after.S)
    trace.seconds.append(time.process_time() - began)
    return after


def run_literal(experiment: Experiment, dictionaries: list[IndexArray] | None = None) -> Trace:
    """The paper's own form, with its own draws, or with given dictionaries in their place: then the same steps."""
    began = time.process_time()
    seconds: list[float] = []

    def given(step: int, measured: IndexArray, chances: FloatArray) -> BoolArray:
        """Beyond the last given dictionary (a rounding made one more batch) its own draw."""
        if dictionaries and step < len(dictionaries):
            return np.isin(measured, dictionaries[step])
        return experiment.draw(step, measured, chances)

    def values(batch: IndexArray, before: int) -> FloatArray:
        seconds.append(time.process_time() - began)
        return experiment.values(batch, before)

    made = literal.run(
        experiment.problem.X,
        experiment.settings,
        values,
        given,
        experiment.first,
        experiment.horizon,
        experiment.exploration,
    )
    return Trace(made.batches, made.dictionaries, [*seconds[1:], time.process_time() - began])
