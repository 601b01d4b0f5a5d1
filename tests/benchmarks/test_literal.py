"""The speed baseline chooses what the dense oracle chooses."""

import numpy as np
import pytest

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import rng_at
from app.engine.kernels import Gaussian
from app.engine.settings import EngineSettings, RuleName
from benchmarks import literal
from benchmarks.datasets import generated
from tests.engine.oracle_runs import Problem, algorithm_1

HORIZON = 80


@pytest.mark.parametrize("rule", ["global", "local", "product", "sequential"])
@pytest.mark.parametrize("seed", range(3))
def test_the_literal_form_chooses_what_the_dense_oracle_chooses(rule: RuleName, seed: int) -> None:
    problem = generated(40, 2, seed)
    noise = rng_at(seed, "noise", 0).normal(scale=0.05, size=HORIZON)
    settings = EngineSettings(Gaussian(1.0), lam=0.01, xi=0.05, delta=0.1, rule=rule, seed=seed)

    def draw(step: int, measured: IndexArray, chances: FloatArray) -> BoolArray:
        drawn: BoolArray = rng_at(seed, "dictionary", step).random(40)[measured] < chances
        return drawn

    def measure(batch: IndexArray, before: int) -> FloatArray:
        values: FloatArray = problem.f[batch] + noise[before : before + len(batch)]
        return values

    oracle = Problem(
        settings.kernel.matrix(problem.X, problem.X),
        lambda x, t: float(problem.f[x] + noise[t]),
        lambda step, measured, chances: draw(step, np.array(measured), chances).tolist(),
        lam=0.01,
        xi=0.05,
        confidence="tight",
    )
    made = literal.run(problem.X, settings, measure, draw, np.array([3, 7]), HORIZON)
    expected = algorithm_1(oracle, rule, [3, 7], HORIZON)
    assert [batch.tolist() for batch in made.batches] == expected.batches
    assert [S.tolist() for S in made.dictionaries] == expected.dictionaries
