"""What the features do not explain: a deviation of each candidate's own, unless it is noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad

from app.engine import State
from app.engine.auto import (
    AutoOptions,
    FittedModel,
    Layout,
    Observed,
    Predictive,
    draw_jointly,
    fit,
    integrated,
    is_noiseless,
    is_noisy,
    state_for,
    still_possible,
    unexplained_variance,
    value_distribution,
)
from app.engine.auto.outlook import covariance
from app.engine.auto.priors import NOISE
from app.engine.auto.replication import AGREEING

A = 40
NOISELESS, UNSAID = AutoOptions(noisy=False), AutoOptions()


def rough(n: int, seed: int = 0, size: float = 0.3) -> tuple[State, FittedModel, Observed]:
    """n of A candidates, each with a deviation of its own beside a smooth function."""
    rng = np.random.default_rng(seed)
    X = rng.random((A, 2))
    truth = 10 + X.sum(axis=1) + size * rng.standard_normal(A)
    numbers = rng.permutation(A)[:n]
    observed = Observed.of(A, numbers, truth[numbers])
    model = fit(X, Layout.of_numbers(2), observed, "maximize")
    return state_for(X, model, observed, NOISELESS, 0), model, observed


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 30), seed=st.integers(0, 30))
def test_the_unexplained_variance_is_the_posterior_mean_of_the_noise_variance(n: int, seed: int) -> None:
    """Against adaptive quadrature of the likelihood with the mean profiled, as the fit has it."""
    state, model, observed = rough(n, seed)
    X, y = state.X[observed.numbers], model.objective.to_model(observed.values)
    K, one = model.kernel.matrix(X, X), np.ones(n)

    def density(u: float) -> float:
        C = K + (np.exp(u) + 1e-8) * np.eye(n)
        C_inv = np.linalg.inv(C)
        residual = y - (one @ C_inv @ y) / (one @ C_inv @ one)
        log_p = -0.5 * (residual @ C_inv @ residual + np.linalg.slogdet(C)[1])
        return float(np.exp(log_p - shift) * stats.norm.pdf(u, NOISE.centre, NOISE.width))

    shift = 0.0
    shift = np.log(max(density(u) for u in np.linspace(*NOISE.bounds, 50)))
    low, high = NOISE.bounds
    exact = quad(lambda u: np.exp(u) * density(u), low, high)[0] / quad(density, low, high)[0]
    assert unexplained_variance(state.X, model, observed) == pytest.approx(exact, rel=0.05)


def test_without_noise_measured_values_are_known_and_others_are_wider() -> None:
    state, model, observed = rough(15)
    smooth, student = integrated(state, model, observed), value_distribution(state, model, observed, NOISELESS)
    measured = observed.counts > 0
    values = model.objective.to_model(observed.values)
    np.testing.assert_allclose(student.location[observed.numbers], values)
    np.testing.assert_array_equal(student.scale[measured], 0.0)
    own = unexplained_variance(state.X, model, observed)
    np.testing.assert_allclose(student.variance[~measured], smooth.variance[~measured] + own)
    np.testing.assert_array_equal(Predictive(student).std[measured], 0.0)


def test_while_nobody_knows_of_noise_a_measured_value_is_not_known() -> None:
    state, model, observed = rough(15)
    student = value_distribution(state, model, observed, UNSAID)
    assert not is_noisy(observed, UNSAID)
    assert not is_noiseless(observed, UNSAID)
    assert not student.known.any()
    assert (student.scale > 0).all()
    assert (student.unexplained[observed.counts == 0] > 0).all()


@pytest.mark.parametrize("repeats", range(AGREEING + 1))
def test_a_measured_value_is_known_once_enough_repeats_were_equal(repeats: int) -> None:
    state, model, observed = rough(15)
    again = observed.numbers[:repeats]
    repeated = Observed.of(A, np.append(observed.numbers, again), np.append(observed.values, observed.values[:repeats]))
    state = state_for(state.X, model, repeated, UNSAID, 0)
    student = value_distribution(state, model, repeated, UNSAID)
    assert student.known.sum() == (15 if repeats == AGREEING else 0)
    assert (student.scale[repeated.counts > 0] == 0).all() == (repeats == AGREEING)


@pytest.mark.parametrize("options", [AutoOptions(noisy=True), AutoOptions(noise=0.2)])
def test_where_measurements_are_noisy_nothing_is_added(options: AutoOptions) -> None:
    state, model, observed = rough(15)
    smooth, student = integrated(state, model, observed), value_distribution(state, model, observed, options)
    np.testing.assert_array_equal(student.variance, smooth.variance)
    np.testing.assert_array_equal(student.location, smooth.location)


def test_a_failure_is_measured_but_its_value_is_not_known() -> None:
    """The model reads a failure as better than it was."""
    state, _, observed = rough(15)
    worst = observed.values.min() - 1000
    failed = Observed.of(A, observed.numbers, np.append(observed.values[:-1], worst))
    model = fit(state.X, Layout.of_numbers(2), failed, "maximize")
    state = state_for(state.X, model, failed, NOISELESS, 0)
    student = value_distribution(state, model, failed, NOISELESS)
    assert student.known.sum() == 14
    assert student.scale[observed.numbers[-1]] > 0


def test_draws_keep_known_values_and_give_every_other_candidate_its_own_deviation() -> None:
    state, model, observed = rough(15)
    student = value_distribution(state, model, observed, NOISELESS)
    numbers, known = np.arange(A), student.known
    draws = draw_jointly(state, student, numbers, seed=1, step=1, draws=20_000).values
    np.testing.assert_array_equal(draws[known], np.repeat(student.location[known][:, None], 20_000, axis=1))
    factor = student.amplitude * student.joint_degrees / (student.joint_degrees - 2)
    exact = covariance(state, student, numbers)[~known][:, ~known] * factor
    scale = np.sqrt(exact.diagonal())
    np.testing.assert_allclose(exact.diagonal(), student.variance[~known] * factor, rtol=1e-6)
    np.testing.assert_allclose(
        np.cov(draws[~known]) / np.outer(scale, scale), exact / np.outer(scale, scale), atol=0.06
    )


def test_a_rougher_table_leaves_more_candidates_possible() -> None:
    left = []
    for size in (0.01, 0.5):
        state, model, observed = rough(25, size=size)
        student = value_distribution(state, model, observed, NOISELESS)
        left.append(len(still_possible(state, student, int(observed.numbers[np.argmax(observed.values)]), 0.5, 0.05)))
    assert left[0] < left[1]


def test_two_alike_candidates_may_differ_by_what_is_unexplained() -> None:
    X = np.array([[0.0], [0.0], [1.0], [0.5]])
    observed = Observed.of(4, [0, 2, 3], [1.0, 2.0, 1.4])
    model = fit(X, Layout.of_numbers(1), observed, "maximize")
    state = state_for(X, model, observed, NOISELESS, 0)
    student = value_distribution(state, model, observed, NOISELESS)
    draws = draw_jointly(state, student, np.arange(4), 0, 1).values
    assert np.ptp(draws[0]) == 0
    assert draws[1].std() > 0
