"""Values with standard errors of their own: against the density and the posterior of all single measurements."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from app.arrays import FloatArray
from app.engine.auto import AutoOptions, Observed, fit, is_noisy, learn_encoding, recommended, state_for
from app.engine.auto.columns import FeatureColumn
from app.engine.auto.error_bars import SingleValues
from app.engine.auto.evidence import NUGGET, evidence
from app.engine.auto.fitting import FittedModel, Posterior
from app.engine.auto.kernel_forms import MaternArd
from app.engine.auto.observed import Grouped, error_variances
from app.engine.auto.predictive import integrated
from app.engine.saving import load, save

seeds = st.integers(0, 2**32 - 1)


def measured(rng: np.random.Generator, n: int = 7) -> tuple[Grouped, SingleValues]:
    """Distinct points with repeats and standard errors, some of which are zero."""
    X, counts = rng.random((n, 3)), rng.integers(1, 4, n)
    rows = np.repeat(np.arange(n), counts)
    values, variances = rng.normal(size=len(rows)), rng.choice([0.0, 0.01, 0.5, 4.0], len(rows))
    singles = SingleValues(rows, values, variances)
    sums, squares = (np.bincount(rows, weights=weights) for weights in (values, values**2))
    plain = Grouped.of(X, counts.astype(float), sums, squares)
    return Grouped(plain.X, plain.counts, plain.means, plain.within, singles), singles


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_the_evidence_is_the_density_of_all_single_measurements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (y, singles), other_values = measured(rng), rng.normal(size=3)
    K, pull_back = MaternArd((0, 1, 2), 3).on(y.X)(other_values * 0.3)

    def dense(lam: float) -> tuple[float, float]:
        found = evidence(K, pull_back, lam, y)
        assert found is not None
        C = (K + NUGGET * np.eye(len(K)))[np.ix_(singles.points, singles.points)] + np.diag(lam + singles.variances)
        density = multivariate_normal(np.full(len(C), found.mu), C, allow_singular=True).logpdf(singles.values)
        return found.log_p, float(density)

    (first, first_density), (second, second_density) = dense(0.3), dense(0.05)
    assert first - second == pytest.approx(first_density - second_density, abs=1e-6)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_the_gradient_equals_central_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, _ = measured(rng)
    posterior = Posterior(MaternArd((0, 1, 2), 3), y)
    theta = posterior.prior_mode + rng.uniform(-1, 1, len(posterior.prior_mode))
    value, gradient = posterior(theta)
    steps = 1e-5 * np.eye(len(theta))
    differences = [(posterior(theta + h)[0] - posterior(theta - h)[0]) / 2e-5 for h in steps]
    np.testing.assert_allclose(gradient, differences, rtol=1e-4, atol=1e-5 * max(1, abs(value)))


def study(seed: int, errors: FloatArray | None) -> tuple[FloatArray, Observed, FittedModel]:
    rng = np.random.default_rng(seed)
    X = rng.random((30, 2))
    encoding = learn_encoding([FeatureColumn(name, "number") for name in ("a", "b")], X, np.empty((30, 0), dtype="<i4"))
    numbers = np.concatenate((rng.permutation(30)[:12], [3, 3]))
    values = np.sin(5 * X[numbers, 0]) + rng.normal(size=14) * 0.3
    observed = Observed.of(30, numbers, values, errors)
    features = encoding.apply(X, np.empty((30, 0), dtype="<i4"))
    return features, observed, fit(features, encoding.layout, observed, "maximize")


@pytest.mark.parametrize("seed", range(4))
def test_the_posterior_is_that_of_all_single_measurements(seed: int) -> None:
    errors = np.where(np.arange(14) % 3 == 0, np.nan, np.random.default_rng(seed).random(14) * 0.5)
    X, observed, fitted = study(seed, errors)
    state = state_for(X, fitted, observed, AutoOptions(), 0)
    y, numbers = fitted.objective.to_model(observed.values), observed.numbers
    C = fitted.kernel.matrix(X[numbers], X[numbers])
    C += np.diag(fitted.lam + error_variances(observed, fitted.objective))
    k = fitted.kernel.matrix(X[numbers], X)
    np.testing.assert_allclose(state.mean, k.T @ np.linalg.solve(C, y), atol=1e-8)
    variance = fitted.kernel.diagonal(X) - (k * np.linalg.solve(C, k)).sum(axis=0)
    np.testing.assert_allclose(state.variance, variance, atol=1e-8)
    ones = np.ones(len(y))
    b, average = ones @ np.linalg.solve(C, ones), ones @ np.linalg.solve(C, y)
    h = 1 - k.T @ np.linalg.solve(C, ones)
    student = integrated(state, fitted, observed)
    np.testing.assert_allclose(student.location, state.mean + h * average / b, atol=1e-7)
    Q = y @ np.linalg.solve(C, y) - average**2 / b
    assert student.amplitude == pytest.approx((Q + 2) / (len(y) + 1), abs=1e-7)
    again = load(save(state), X)
    assert again.weights is not None
    assert again.weights.tobytes() == state.weights.tobytes()  # type: ignore[union-attr]


def test_values_without_errors_are_fitted_to_the_bit_as_before() -> None:
    _, plain, without = study(1, None)
    _, missing, same = study(1, np.full(14, np.nan))
    assert (plain.errors, missing.errors) == (None, None)
    assert without.describe() == same.describe()


def test_an_imprecise_value_counts_for_less() -> None:
    """The recommendation is not the candidate of the best value if that value may be anything."""
    errors = np.full(14, 0.01)
    _, observed, _ = study(2, errors)
    lucky = int(np.argmax(observed.values))
    assert observed.counts[observed.numbers[lucky]] == 1
    errors[lucky] = 3.0
    X, doubtful, fitted = study(2, errors)
    state = state_for(X, fitted, doubtful, AutoOptions(), 0)
    assert is_noisy(doubtful, AutoOptions())
    assert recommended(state, fitted, doubtful, True, np.arange(30)) != observed.numbers[lucky]
