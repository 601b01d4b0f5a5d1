"""Samples have the mean and the variance of the posterior."""

import numpy as np
import pytest

from app.engine.arrays import Array
from app.engine.baselines.thompson import sample
from app.engine.state import State
from tests.engine import oracle
from tests.engine.baselines.test_every_baseline import study


def samples(state: State) -> Array:
    rng = np.random.default_rng(0)
    return np.array([sample(state, np.sqrt(state.residual), rng) for _ in range(20_000)])


@pytest.mark.parametrize("measured", [0, 10])
def test_samples_have_the_mean_and_the_variance_of_the_posterior(measured: int) -> None:
    state = study("thompson", measured=measured)
    drawn = samples(state)
    np.testing.assert_allclose(drawn.mean(axis=0), state.mean, atol=0.03)
    np.testing.assert_allclose(drawn.var(axis=0), state.variance, atol=0.03)


def test_samples_are_correlated_as_the_part_of_the_posterior_the_dictionary_sees() -> None:
    state = study("thompson", measured=10)
    K = state.settings.kernel.matrix(state.X, state.X)
    seen = 0.01 * oracle.projected_cov(K, state.S.tolist(), state.measured.tolist(), 0.01)
    off_diagonal = ~np.eye(len(K), dtype=bool)
    np.testing.assert_allclose(np.cov(samples(state).T)[off_diagonal], seen[off_diagonal], atol=0.02)
