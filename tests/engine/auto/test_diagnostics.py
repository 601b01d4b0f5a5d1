"""Each result predicted from the others, and what every column does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import State
from app.engine.auto import (
    AutoOptions,
    FittedModel,
    Layout,
    Observed,
    Predictive,
    fit,
    importances,
    leave_one_out,
    predictive_at,
    state_for,
    value_distribution,
)
from app.engine.auto.predictive import PRIOR_WEIGHT


def study(n: int, seed: int = 0) -> tuple[FloatArray, State, FittedModel, Observed]:
    """Only the first of three columns matters."""
    rng = np.random.default_rng(seed)
    X = rng.random((40, 3))
    numbers = rng.integers(0, 40, n)
    observed = Observed.of(40, numbers, 10 * X[numbers, 0] + 0.1 * rng.standard_normal(n))
    model = fit(X, Layout.of_numbers(3), observed, "maximize")
    return X, state_for(X, model, observed, AutoOptions(), 0), model, observed


@settings(max_examples=15, deadline=None)
@given(n=st.integers(6, 25), seed=st.integers(0, 30))
def test_a_result_left_out_is_predicted_by_all_others(n: int, seed: int) -> None:
    """Against leaving it out: a dense computation for every candidate, with the mean estimated from the others."""
    X, _, model, observed = study(n, seed)
    loo = leave_one_out(X, model, observed)
    for i, number in enumerate(loo.numbers):
        rest = np.delete(loo.numbers, i)
        C = model.kernel.matrix(X[rest], X[rest]) + np.diag(model.lam / observed.counts[rest] + 1e-8)
        C_inv, k = np.linalg.inv(C), model.kernel.matrix(X[[number]], X[rest])[0]
        y, b = np.delete(loo.observed, i), C_inv.sum()
        mu = C_inv.sum(axis=1) @ y / b
        assert loo.predicted[i] == pytest.approx(mu + k @ C_inv @ (y - mu), abs=1e-6)
        variance = float(model.kernel.diagonal(X[[number]])[0]) - k @ C_inv @ k
        variance += (1 - k @ C_inv.sum(axis=1)) ** 2 / b + model.lam / observed.counts[number] + 1e-8
        amplitude = ((y - mu) @ C_inv @ (y - mu) + PRIOR_WEIGHT) / (len(rest) - 1 + PRIOR_WEIGHT)
        assert loo.deviation[i] == pytest.approx(np.sqrt(amplitude * variance), rel=1e-5)


@settings(max_examples=15, deadline=None)
@given(n=st.integers(6, 25), seed=st.integers(0, 30))
def test_skill_compares_predictions_with_the_mean_of_the_others(n: int, seed: int) -> None:
    X, _, model, observed = study(n, seed)
    loo = leave_one_out(X, model, observed)
    y = loo.observed
    by_mean = sum((y[i] - np.delete(y, i).mean()) ** 2 for i in range(len(y)))
    assert loo.skill == pytest.approx(1 - np.sum((y - loo.predicted) ** 2) / by_mean)
    assert replace(loo, observed=np.ones(len(y))).skill == 0  # equal results have no errors to compare with
    assert replace(loo, predicted=y).skill == 1


def test_two_candidates_say_nothing_of_each_other() -> None:
    X, _, model, _ = study(10)
    assert leave_one_out(X, model, Observed.of(40, [0, 1], [1.0, 2.0])) is None


def test_the_column_that_decides_alone_has_all_the_importance() -> None:
    _, state, _, _ = study(40)
    columns = [np.array([q]) for q in range(3)]
    matter = importances(state, columns, seed=0)
    assert matter[0] > 0.8
    assert matter[1:].max() < 0.1
    np.testing.assert_array_equal(matter, importances(state, columns, seed=0))


def test_any_features_are_predicted_as_candidates_are() -> None:
    X, state, model, observed = study(15)
    numbers = np.flatnonzero(observed.counts == 0)[:4]
    middle, radius = predictive_at(state, model, observed, AutoOptions(), X[numbers])
    predictive = Predictive(value_distribution(state, model, observed, AutoOptions()))
    np.testing.assert_allclose(middle, predictive.location[numbers], atol=1e-8)
    np.testing.assert_allclose(radius, predictive.half_width(0.95)[numbers], atol=1e-6)
