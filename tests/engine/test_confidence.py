"""Theorem 2: beta, and the bounds mean ∓ beta·√leverage made of it."""

import numpy as np
import pytest

from app.engine import Ask, EngineSettings, beta, choose, measure, start
from app.engine.kernels import Gaussian
from tests.engine import oracle, oracle_runs
from tests.engine.problems import confidence_bounds, lab


def test_theorem_2_beta_is_the_running_sum_over_the_leverages_of_each_batch_start() -> None:
    made = lab()
    state, _ = made.run([0, 1], 80)
    s, run = made.settings, oracle_runs.algorithm_1(made.oracle(), "global", [0, 1], 80)
    assert beta(state) == pytest.approx(oracle.beta(run.chosen_leverages, s.lam, s.xi, s.delta, s.F), rel=1e-6)


def test_the_bounds_cover_functions_of_known_norm_with_probability_1_minus_delta() -> None:
    kernel, xi, delta, fails = Gaussian(0.3), 0.2, 0.1, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.random((50, 2))
        weights = rng.standard_normal(8)
        K = kernel.matrix(X, X)
        f = K[:, :8] @ weights
        F = float(np.sqrt(weights @ K[:8, :8] @ weights))
        state = start(X, EngineSettings(kernel=kernel, lam=1.0, xi=xi, F=F, delta=delta, q_bar=None, seed=seed))
        covered = True
        for number in range(1, 7):
            picks = choose(state, Ask(number, max_size=15)).picks
            state = measure(state, picks, f[picks] + xi * rng.standard_normal(len(picks)))
            lower, upper = confidence_bounds(state)
            covered &= bool((lower <= f).all() and (f <= upper).all())
            covered &= bool(f.max() - f[lower.argmax()] <= upper.max() - lower.max())
        fails += not covered
    assert fails <= 40 * delta


def test_the_highest_upper_less_the_highest_lower_bound_falls_as_measurements_come_in() -> None:
    made = lab(lam=1.0, xi=0.05)

    def regret_bound(horizon: int) -> float:
        lower, upper = confidence_bounds(made.run([0, 1], horizon)[0])
        return float(upper.max() - lower.max())

    assert regret_bound(2000) < regret_bound(20) / 2
