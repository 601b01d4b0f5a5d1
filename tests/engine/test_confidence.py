"""beta of each confidence, the bounds made of it, and how often they hold."""

import numpy as np
import pytest

from app.engine import Ask, EngineSettings, beta, choose, design, measure, start, start_from
from app.engine import confidence_bounds as cut_bounds
from app.engine.kernels import Gaussian, Scaled
from app.engine.settings import ConfidenceName
from benchmarks.coverage import DELTA, counterexample, small_study
from tests.engine import oracle, oracle_runs
from tests.engine.problems import confidence_bounds, lab


def test_theorem_2_beta_is_the_running_sum_over_the_leverages_of_each_batch_start() -> None:
    made = lab(confidence="tight")
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


def test_sharp_beta_is_the_dense_formula() -> None:
    made = lab(q_bar=0.5)
    state, _ = made.run([0, 1], 80)
    s, rows = made.settings, np.repeat(np.arange(40), state.counts).tolist()
    expected = oracle.sharp_beta(made.K, state.S.tolist(), rows, s.lam, s.xi, s.delta, s.F)
    assert beta(state) == pytest.approx(expected, rel=1e-6)


def test_sharp_beta_is_at_most_its_plain_form() -> None:
    """xi·√(log det(V/λ) + T/λ + 2 log(1/δ)) + (√λ + √T)·F."""
    for q_bar in (1e-9, 0.5, 2.0):
        state, _ = lab(q_bar=q_bar).run([0, 1], 80)
        s, T = state.settings, float(state.counts @ state.residual)
        logdet = np.linalg.slogdet(state.G / s.lam + np.eye(len(state.S)))[1]
        plain = s.xi * np.sqrt(logdet + T / s.lam + 2 * np.log(1 / s.delta)) + (np.sqrt(s.lam) + np.sqrt(T)) * s.F
        assert beta(state) <= plain * (1 + 1e-9)


def test_sharp_beta_is_finite_however_much_the_dictionary_does_not_see() -> None:
    settings = EngineSettings(Scaled(Gaussian(0.01), 1e149), dictionary="greedy", members=1)
    state = start_from(np.arange(20.0)[:, None], settings, np.full(20, 10**9), np.zeros(20))
    T = float(state.counts @ state.residual)
    assert T > 1e158
    assert beta(state) == pytest.approx(np.sqrt(T), rel=1e-6)


def test_the_sharp_bounds_hold_where_theorem_2_fails() -> None:
    assert sum(not counterexample("tight", seed) for seed in range(100)) > 100 * DELTA
    assert all(counterexample("sharp", seed) for seed in range(300))


@pytest.mark.parametrize("q_bar", [1e-9, 0.5, 2.0, None])
def test_the_sharp_bounds_hold_in_small_random_studies(q_bar: float | None) -> None:
    assert all(small_study("sharp", seed, q_bar) for seed in range(250))


@pytest.mark.parametrize("confidence", ["tight", "paper"])
def test_the_bounds_of_theorem_2_hold_with_the_oversampling_that_they_need(confidence: ConfidenceName) -> None:
    assert all(small_study(confidence, seed, None) for seed in range(250))


@pytest.mark.parametrize("seed", range(5))
def test_the_bounds_never_exceed_what_the_norm_alone_says(seed: int) -> None:
    state, _ = lab(seed, A=30, F=0.3).run([0, 1], 20)
    lower, upper = cut_bounds(state)
    assert np.abs(np.concatenate((lower, upper))).max() <= 0.3 * (1 + 1e-12)
    assert (lower <= upper).all()
    lowest, highest = cut_bounds(state, (0.0, 0.1))
    assert lowest.min() >= 0.0
    assert highest.max() <= 0.1


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, True),
        ({"confidence": "tight"}, False),
        ({"confidence": "paper", "q_bar": 1e-9}, False),
        ({"confidence": "tight", "q_bar": None}, True),
        ({"confidence": "tight", "dictionary": "all"}, True),
        ({"q_bar": 1e-9}, True),
    ],
    ids=str,
)
def test_a_batch_is_guaranteed_only_where_its_bounds_are_proven(settings: dict[str, object], expected: bool) -> None:
    state, _ = lab(**settings).run([0, 1], 20)
    assert choose(state, Ask()).guaranteed is expected


def test_an_alpha_below_the_theorys_guarantees_nothing() -> None:
    state, _ = lab().run([0, 1], 20)
    own = choose(state, Ask()).alpha
    assert choose(state, Ask(alpha=own)).guaranteed
    assert choose(state, Ask(alpha=1.1 * own)).guaranteed
    assert not choose(state, Ask(alpha=0.9 * own)).guaranteed


def test_values_that_had_to_be_clipped_guarantee_nothing() -> None:
    made = lab()
    state = measure(start(made.X, made.settings), [0, 1], [1e300, 1.0])
    assert not choose(state, Ask()).guaranteed


def test_a_design_reports_how_far_it_drifted_and_guarantees_nothing() -> None:
    made = lab(lam=0.5)
    state = start(made.X, made.settings)
    batch = design(state, Ask(max_size=8))
    assert not batch.guaranteed
    before = oracle.exact_posterior(made.K, [], [], 0.5).leverage
    last = oracle.exact_posterior(made.K, batch.picks[:-1].tolist(), np.zeros(7), 0.5).leverage
    assert (before / last).max() <= batch.ratio_bound <= 1 + 7 / 0.5
    assert design(state, Ask(max_size=1)).ratio_bound == 1.0
