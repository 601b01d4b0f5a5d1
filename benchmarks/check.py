"""Three implementations, one run: the dense oracle, the paper's literal form and the engine must choose the same."""

from dataclasses import dataclass, replace

import numpy as np

from app.arrays import IndexArray
from benchmarks.experiment import Experiment, run_engine, run_literal
from tests.engine.oracle_runs import Problem, algorithm_1


@dataclass(frozen=True)
class Check:
    """The choices of each implementation, batch by batch."""

    naive: list[list[int]]
    literal: list[list[int]]
    engine: list[list[int]]

    @property
    def agrees(self) -> bool:
        """Whether all three made the same batches of the same candidates in the same order."""
        return self.naive == self.literal == self.engine

    def first_difference(self) -> int | None:
        """The first batch on which they do not agree."""
        runs = (self.naive, self.literal, self.engine)
        for number, batches in enumerate(zip(*runs, strict=False)):
            if not batches[0] == batches[1] == batches[2]:
                return number
        return None if self.agrees else min(map(len, runs))


def check(experiment: Experiment) -> Check:
    """The whole run three times; the dictionary strictly as drawn, for that is what the paper says."""
    strict = replace(experiment, settings=experiment.settings.replace(resparsify="strict"))
    return Check(run_naive(strict), _plain(run_literal(strict).batches), _plain(run_engine(strict).batches))


def run_naive(experiment: Experiment) -> list[list[int]]:
    """The dense oracle: every candidate from scratch at every step."""
    s, X = experiment.settings, experiment.problem.X
    problem = Problem(
        K=s.kernel.matrix(X, X),
        measure=lambda x, t: float(experiment.values(np.array([x]), t)[0]),
        draw=lambda step, measured, chances: experiment.draw(step, np.array(measured), chances).tolist(),
        lam=s.lam,
        xi=s.xi,
        F=s.F,
        delta=s.delta,
        q_bar=s.q_bar or 2.0,
        threshold=s.threshold,
        confidence=s.confidence,
        alpha_per_beta=experiment.exploration * np.sqrt(s.threshold),
    )
    return algorithm_1(problem, s.rule, experiment.first.tolist(), experiment.horizon).batches


def _plain(batches: list[IndexArray]) -> list[list[int]]:
    return [batch.tolist() for batch in batches]
