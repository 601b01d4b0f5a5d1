"""Theorem 2, and the certificate made of it."""

import numpy as np
import pytest

from app.engine import Ask, Settings, beta, bounds, certificate, choose, measure, start, switch
from app.engine.kernels import Gaussian
from tests.engine import oracle, oracle_runs
from tests.engine.problems import lab


def test_theorem_2_beta_is_the_running_sum_over_the_leverages_of_each_batch_start() -> None:
    made = lab()
    state, _ = made.run([0, 1], 80)
    s, run = made.settings, oracle_runs.algorithm_1(made.oracle(), "global", [0, 1], 80)
    assert beta(state) == pytest.approx(oracle.beta(run.chosen_leverages, s.lam, s.xi, s.delta, s.F), rel=1e-6)


def test_the_certificate_covers_functions_of_known_norm_with_probability_1_minus_delta() -> None:
    kernel, xi, delta, fails = Gaussian(0.3), 0.2, 0.1, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.random((50, 2))
        weights = rng.standard_normal(8)
        K = kernel.matrix(X, X)
        f = K[:, :8] @ weights
        F = float(np.sqrt(weights @ K[:8, :8] @ weights))
        state = start(X, Settings(kernel=kernel, lam=1.0, xi=xi, F=F, delta=delta, q_bar=None, seed=seed))
        covered = True
        for number in range(1, 7):
            picks = choose(state, Ask(number, max_size=15)).picks
            state = measure(state, picks, f[picks] + xi * rng.standard_normal(len(picks)))
            lcb, ucb = bounds(state)
            sure = certificate(state)
            covered &= bool((lcb <= f).all() and (f <= ucb).all())
            covered &= f.max() - f[sure.recommended] <= sure.regret_bound
        fails += not covered
    assert fails <= 40 * delta


def test_the_regret_bound_is_the_highest_ucb_less_the_lcb_of_the_recommended() -> None:
    state, _ = lab().run([0, 1], 60)
    lcb, ucb = bounds(state)
    sure = certificate(state)
    assert sure.recommended == lcb.argmax()
    assert sure.regret_bound == pytest.approx(ucb.max() - lcb.max())
    assert (sure.upper, sure.lower) == (ucb.max(), lcb.max())


def test_the_certificate_speaks_of_available_candidates() -> None:
    state, _ = lab().run([0, 1], 60)
    best = certificate(state).recommended
    assert certificate(switch(state, [best], available=False)).recommended != best
    assert certificate(switch(state, np.arange(40), available=False)).recommended == best


def test_the_regret_bound_falls_as_measurements_come_in() -> None:
    made = lab(lam=1.0, xi=0.05)
    few, many = made.run([0, 1], 20)[0], made.run([0, 1], 2000)[0]
    assert certificate(many).regret_bound < certificate(few).regret_bound / 2
