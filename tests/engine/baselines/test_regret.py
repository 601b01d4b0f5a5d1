"""Learning pays: the baselines beat uniform choice where it is easy."""

import numpy as np
import pytest

from app.engine import Ask, Settings, measure, member, start
from app.engine.arrays import Array
from app.engine.kernels import Gaussian

X = np.random.default_rng(0).uniform(-1, 1, size=(400, 2))
f: Array = -np.sum((X - 0.3) ** 2, axis=1)


@pytest.mark.parametrize("name", ["epsilon-greedy", "thompson", "evolution"])
def test_learning_beats_uniform_choice_on_an_easy_function(name: str) -> None:
    ratios = [regret(name, seed) / regret("uniform", seed) for seed in range(3)]
    assert np.mean(ratios) < 0.6


def regret(name: str, seed: int) -> float:
    """Σ_t f* − f(x_t) over 30 batches of five."""
    settings = Settings(Gaussian(0.5), lam=0.01, xi=0.1, seed=seed)
    state, choose = start(X, member(name).settings(settings)), member(name).choose
    for number in range(1, 31):
        picks = choose(state, Ask(number, min_size=5, max_size=5)).picks
        noise = np.random.default_rng([seed, number]).normal(scale=0.1, size=5)
        state = measure(state, picks, f[picks] + noise)
    return float(state.counts @ (f.max() - f))
