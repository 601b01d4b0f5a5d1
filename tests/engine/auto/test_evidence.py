"""The evidence against the density of all single measurements, and every gradient against central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from app.arrays import FloatArray
from app.engine.auto.evidence import NUGGET, evidence
from app.engine.auto.fitting import Posterior
from app.engine.auto.kernel_forms import Form, MainEffects, MaternArd, ScaledTanimoto, Times
from app.engine.auto.observed import Grouped
from app.engine.auto.priors import AMPLITUDE, NOISE, Gamma, Odds, Prior

FORMS: list[Form] = [
    MaternArd((0, 1, 2, 3), 4),
    MaternArd((1, 3), 4),
    ScaledTanimoto((0, 1, 2, 3), 4),
    Times(ScaledTanimoto((0, 1), 4), MaternArd((2, 3), 4)),
    MainEffects(MaternArd((0, 1, 2, 3), 4), ((0,), (1,))),
]
forms = st.sampled_from(FORMS)
seeds = st.integers(0, 2**32 - 1)


def points(rng: np.random.Generator, n: int = 7) -> FloatArray:
    """Two columns of bits, two of numbers."""
    return np.hstack((rng.integers(0, 2, (n, 2)), rng.random((n, 2))))


def measured(rng: np.random.Generator, n: int = 7) -> tuple[Grouped, FloatArray, FloatArray]:
    """Distinct points with repeats: grouped, and as single rows and values."""
    X, counts = points(rng, n), rng.integers(1, 4, n)
    rows = np.repeat(np.arange(n), counts)
    y = rng.normal(size=len(rows))
    sums, squares = (np.bincount(rows, weights=weights) for weights in (y, y**2))
    return Grouped.of(X, counts.astype(float), sums, squares), rows, y


def central(function: object, theta: FloatArray, step: float = 1e-5) -> FloatArray:
    """Central differences of a function with value and gradient."""
    steps = step * np.eye(len(theta))
    return np.array([(function(theta + h)[0] - function(theta - h)[0]) / (2 * step) for h in steps])  # type: ignore[operator]


@settings(deadline=None, max_examples=40)
@given(forms, seeds)
def test_the_gradient_of_the_log_posterior_equals_central_differences(form: Form, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, _, _ = measured(rng)
    posterior = Posterior(form, y)
    theta = posterior.prior_mode + rng.uniform(-1, 1, len(posterior.prior_mode))
    value, gradient = posterior(theta)
    np.testing.assert_allclose(gradient, central(posterior, theta), rtol=1e-5, atol=1e-6 * max(1, abs(value)))


@settings(deadline=None, max_examples=40)
@given(forms, seeds)
def test_a_form_is_the_kernel_it_names(form: Form, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, theta, W = points(rng), rng.normal(size=len(form.priors)), rng.normal(size=(7, 7))
    K, pull = form.on(X)(theta)
    kernel = form.kernel(theta)
    np.testing.assert_allclose(K, kernel.matrix(X, X), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        pull(W), central(lambda at: (float(np.vdot(W, form.kernel(at).matrix(X, X))),), theta), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("seed", range(5))
def test_repeats_are_counted_as_single_measurements_would_be(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, rows, values = measured(rng)
    K, pull = FORMS[0].on(y.X)(np.zeros(4))
    constants = []
    for lam in (0.1, 1.0):
        found = evidence(K, pull, lam, y)
        assert found is not None
        full = (K + NUGGET * np.eye(7))[np.ix_(rows, rows)] + lam * np.eye(len(rows))
        constants.append(multivariate_normal(np.full(len(rows), found.mu), full).logpdf(values) - found.log_p)
    assert constants[0] == pytest.approx(constants[1])


@pytest.mark.parametrize("prior", [NOISE, AMPLITUDE, Odds(-1.0), Gamma.of_lengthscale(1), Gamma.of_lengthscale(130)])
def test_the_mode_of_a_prior_is_where_its_density_of_the_hyperparameter_is_highest(prior: Prior) -> None:
    u = np.linspace(*prior.bounds, 20001)
    assert prior.mode == pytest.approx(u[np.argmax(prior.log_density(u)[0])], abs=1e-3)
    np.testing.assert_allclose(
        prior.log_density(u)[1][1:-1], np.gradient(prior.log_density(u)[0], u)[1:-1], rtol=1e-3, atol=1e-3
    )


def test_the_lengthscale_prior_grows_with_the_root_of_the_dimension() -> None:
    assert Gamma.of_lengthscale(1).centre == pytest.approx(0.205, abs=1e-3)
    assert Gamma.of_lengthscale(100).centre == pytest.approx(2.05, abs=1e-2)
