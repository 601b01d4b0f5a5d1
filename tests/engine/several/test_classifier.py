"""The failure classifier against quadrature, and what it may never do."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from app.engine.several import chances_of_success
from app.engine.several.classifier import AMPLITUDES, PRIOR, laplace, prior_mean

AXIS = np.linspace(0, 1, 50)[:, None]


@pytest.mark.parametrize("amplitude", AMPLITUDES)
@pytest.mark.parametrize("y", [1.0, -1.0])
def test_the_approximation_is_near_the_integral_over_one_latent_value(amplitude: float, y: float) -> None:
    mean, variance = prior_mean(amplitude), amplitude**2

    def joint(f: float) -> float:
        return float(ndtr(y * f) * norm.pdf(f, mean, amplitude))

    evidence = quad(joint, mean - 10, mean + 10, limit=200)[0]
    predicted = quad(lambda f: float(ndtr(f)) * joint(f), mean - 10, mean + 10, limit=200)[0] / evidence
    mode = laplace(np.array([[variance]]), np.array([y]), mean)
    assert mode.log_evidence == pytest.approx(np.log(evidence), abs=0.08)
    curvature = mode.root_w[0] ** 2
    spread = variance - variance**2 / (variance + 1 / curvature)
    approximate = ndtr((mean + variance * mode.a[0]) / np.sqrt(1 + spread))
    assert approximate == pytest.approx(predicted, abs=0.05)


def test_the_mode_is_stationary() -> None:
    """f̂ − m = K ∇log p(y | f̂) (Rasmussen and Williams, equation 3.17)."""
    rng = np.random.default_rng(3)
    root = rng.standard_normal((12, 12))
    K, y = root @ root.T / 12 + 0.1 * np.eye(12), np.where(rng.random(12) < 0.5, 1.0, -1.0)
    mode = laplace(K, y, 1.0)
    f = 1.0 + K @ mode.a
    gradient = y * norm.pdf(f) / ndtr(y * f)
    assert mode.a == pytest.approx(gradient, abs=1e-4)


def test_where_nothing_is_known_the_chance_is_the_prior() -> None:
    chance = chances_of_success(np.array([[0.0], [1e6]]), np.array([0]), np.array([], dtype=np.int64))
    assert chance[1] == pytest.approx(PRIOR)


@pytest.mark.parametrize("done", [[], [30], list(range(25, 50))])
def test_one_failure_never_locks_a_region_out(done: list[int]) -> None:
    chance = chances_of_success(AXIS, np.array(done, dtype=np.int64), np.array([10]))
    others = np.setdiff1d(np.arange(50), [10])
    assert chance[others].min() > 0.25


def test_many_failures_side_by_side_are_learnt() -> None:
    chance = chances_of_success(AXIS, np.arange(25, 50, 3), np.arange(0, 20, 3))
    assert chance[:15].max() < 0.35
    assert chance[30:].min() > 0.75
