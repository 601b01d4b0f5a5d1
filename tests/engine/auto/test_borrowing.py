"""What an earlier study expects: a feature of its own, with a fitted weight, used only where it explains something."""

import numpy as np
import pytest

from app.arrays import FloatArray
from app.engine.auto import Layout, Observed, fit
from app.engine.auto.columns import BORROWED_SCALE
from app.engine.auto.kernel_forms import borrowing_form_of, form_for

N = 40


def features(seed: int, expected: FloatArray | None = None) -> tuple[FloatArray, Layout]:
    """Three columns of numbers, and what an earlier study expects."""
    rng = np.random.default_rng(seed)
    X = rng.random((N, 3))
    told = rng.standard_normal(N) if expected is None else expected
    return np.column_stack((X, BORROWED_SCALE * told)), Layout.of_numbers(3).with_borrowed(1)


def truth(X: FloatArray) -> FloatArray:
    return np.asarray(np.sin(9 * X[:, 0]) * np.cos(7 * X[:, 1]) + np.sin(11 * X[:, 2]))


def test_the_form_its_kernel_and_its_gradient_agree() -> None:
    X, layout = features(0)
    _, form = borrowing_form_of(*form_for(layout), layout)
    rng = np.random.default_rng(1)
    theta = np.array([prior.mode for prior in form.priors]) + 0.3 * rng.standard_normal(len(form.priors))
    K, pull_back = form.on(X)(theta)
    np.testing.assert_allclose(K, form.kernel(theta).matrix(X, X), atol=1e-9)
    W = rng.standard_normal(K.shape)
    W += W.T
    for position, step in enumerate(np.eye(len(theta)) * 1e-5):
        numeric = np.vdot(W, form.on(X)(theta + step)[0] - form.on(X)(theta - step)[0]) / 2e-5
        assert pull_back(W)[position] == pytest.approx(numeric, rel=1e-4, abs=1e-6)


def test_without_borrowing_the_form_does_not_see_the_column() -> None:
    X, layout = features(0)
    _, form = form_for(layout)
    _, plain = form_for(Layout.of_numbers(3))
    theta = np.array([prior.mode for prior in form.priors])
    assert form.priors == plain.priors
    np.testing.assert_array_equal(form.on(X)(theta)[0], plain.on(X[:, :3])(theta)[0])


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["the same way", "the other way"])
def test_an_expectation_that_explains_the_results_is_used(sign: float) -> None:
    X, _ = features(2)
    values = truth(X)
    told = sign * (values - values.mean()) / values.std() + 0.2 * np.random.default_rng(3).standard_normal(N)
    X, layout = features(2, told)
    fitted = fit(X, layout, Observed.of(N, np.arange(12), values[:12]), "maximize")
    assert fitted.form.endswith("earlier studies")
    K = fitted.kernel.matrix(X[:12], X[:12]) + fitted.lam * np.eye(12)
    means = fitted.kernel.matrix(X[12:], X[:12]) @ np.linalg.solve(K, fitted.objective.to_model(values[:12]))
    assert np.corrcoef(means, values[12:])[0, 1] > 0.9


def test_the_better_an_expectation_explains_the_results_the_smaller_is_the_variance_around_it() -> None:
    rng = np.random.default_rng(3)
    around = []
    for error in (0.05, 0.7):
        X, _ = features(2)
        values = truth(X)
        told = (values - values.mean()) / values.std() + error * rng.standard_normal(N)
        X, layout = features(2, told)
        fitted = fit(X, layout, Observed.of(N, np.arange(15), values[:15]), "maximize")
        assert fitted.form.endswith("earlier studies")
        around.append(fitted.kernel.diagonal(X) - np.exp(fitted.theta[0]) * told**2)
    assert around[0].max() < 0.5 * around[1].min()
    assert around[1].max() < 1


def test_an_expectation_that_explains_nothing_is_hardly_ever_used() -> None:
    used = []
    for seed in range(20):
        X, layout = features(100 + seed)
        fitted = fit(X, layout, Observed.of(N, np.arange(15), truth(X)[:15]), "maximize")
        used.append(fitted.form.endswith("earlier studies"))
    assert np.mean(used) <= 0.25
