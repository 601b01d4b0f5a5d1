"""Predictions with mean and amplitude integrated, against dense and numerical oracles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from app.arrays import FloatArray
from app.engine import State
from app.engine.auto import AutoOptions, FittedModel, Layout, Observed, Predictive, fit, integrated, state_for
from app.engine.auto.predictive import PRIOR_WEIGHT

X = np.linspace(0, 1, 12)[:, None]


def study(n: int, seed: int) -> tuple[State, FittedModel, Observed]:
    """n noisy measurements, some of them of the same candidate."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, len(X), n)
    observed = Observed.of(len(X), numbers, 20 + 5 * np.sin(6 * X[numbers, 0]) + rng.standard_normal(n))
    model = fit(X, Layout.of_numbers(1), observed, "maximize")
    return state_for(X, model, observed, AutoOptions(), 0), model, observed


def dense(model: FittedModel, observed: Observed) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values in model units, their covariance, and their covariance with every candidate."""
    points = X[observed.numbers]
    C = model.kernel.matrix(points, points) + model.lam * np.eye(observed.size)
    return model.objective.to_model(observed.values), C, model.kernel.matrix(X, points)


@settings(max_examples=15, deadline=None)
@given(n=st.integers(2, 9), seed=st.integers(0, 50), candidate=st.integers(0, len(X) - 1))
def test_the_student_t_is_the_integral_over_mean_and_amplitude(n: int, seed: int, candidate: int) -> None:
    """The mean and the logarithm of s² on a fine grid, every measurement by itself."""
    state, model, observed = study(n, seed)
    student = integrated(state, model, observed)
    y, C, K = dense(model, observed)
    C_inv, k = np.linalg.inv(C), K[candidate]
    v = float(model.kernel.diagonal(X[[candidate]])[0] - k @ C_inv @ k)
    log_s2, mu = np.meshgrid(np.linspace(-7, 9, 400), np.linspace(-40, 40, 1001), indexing="ij")
    residual = y[:, None, None] - mu
    quadratic = np.einsum("iab,ij,jab->ab", residual, C_inv, residual, optimize=True)
    log_prior = -PRIOR_WEIGHT / 2 * (log_s2 + np.exp(-log_s2))
    log_weight = -n / 2 * log_s2 - quadratic * np.exp(-log_s2) / 2 + log_prior
    weight = np.exp(log_weight - log_weight.max())
    middle = mu + np.einsum("j,jab->ab", C_inv @ k, residual)
    for quantile in (0.1, 0.5, 0.9):
        at = float(stats.t.ppf(quantile, student.degrees, student.location[candidate], student.scale[candidate]))
        below = (weight * stats.norm.cdf((at - middle) / np.sqrt(np.exp(log_s2) * max(v, 1e-12)))).sum() / weight.sum()
        assert below == pytest.approx(quantile, abs=5e-3)


@settings(max_examples=20, deadline=None)
@given(n=st.integers(1, 30), seed=st.integers(0, 50))
def test_location_and_variance_are_those_of_generalised_least_squares(n: int, seed: int) -> None:
    state, model, observed = study(n, seed)
    student = integrated(state, model, observed)
    y, C, K = dense(model, observed)
    C_inv, one = np.linalg.inv(C), np.ones(n)
    b, h = one @ C_inv @ one, 1 - K @ C_inv @ one
    delta = one @ C_inv @ y / b
    variance = model.kernel.diagonal(X) - np.einsum("ij,jk,ik->i", K, C_inv, K) + h**2 / b
    quadratic = (y - delta) @ C_inv @ (y - delta)
    np.testing.assert_allclose(student.location, delta + K @ C_inv @ (y - delta), atol=1e-6)
    np.testing.assert_allclose(student.variance, variance, atol=1e-6)
    assert student.amplitude == pytest.approx((quadratic + PRIOR_WEIGHT) / (n - 1 + PRIOR_WEIGHT), rel=1e-5)
    assert student.degrees == n - 1 + PRIOR_WEIGHT


def test_one_result_is_enough_for_an_interval() -> None:
    state, model, observed = study(1, 0)
    predictive = Predictive(integrated(state, model, observed))
    assert np.isfinite(predictive.std).all()
    assert (predictive.std > 0).all()


@settings(max_examples=20, deadline=None)
@given(n=st.integers(1, 30), seed=st.integers(0, 50))
def test_a_surer_interval_is_wider_and_wider_than_the_student_t(n: int, seed: int) -> None:
    state, model, observed = study(n, seed)
    student = integrated(state, model, observed)
    predictive = Predictive(student)
    half, most, nearly_all = (predictive.half_width(share) for share in (0.5, 0.8, 0.95))
    assert (half <= most).all()
    assert (most <= nearly_all).all()
    assert (nearly_all >= student.scale * stats.t.ppf(0.975, student.degrees)).all()


def test_intervals_of_an_unknown_function_hold_about_as_often_as_they_say() -> None:
    """Draws from another kernel than the fitted one, measured where they are best: as in a study."""
    rng, covered = np.random.default_rng(0), []
    for _ in range(30):
        features = rng.random((80, 2))
        distances = np.abs(features[:, None] - features).sum(axis=2)
        truth = np.linalg.cholesky(np.exp(-2 * distances) + 1e-9 * np.eye(80)) @ rng.standard_normal(80)
        numbers = np.concatenate((rng.permutation(80)[:10], np.argsort(-truth)[:10]))
        observed = Observed.of(80, numbers, truth[numbers])
        model = fit(features, Layout.of_numbers(2), observed, "maximize")
        state = state_for(features, model, observed, AutoOptions(), 0)
        predictive = Predictive(integrated(state, model, observed))
        off = np.abs(model.objective.to_model(truth) - predictive.location)[observed.counts == 0]
        covered.append((off <= predictive.half_width(0.8)[observed.counts == 0]).mean())
    assert 0.7 < np.mean(covered) < 0.95
