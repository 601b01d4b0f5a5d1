"""The theory in numbers, against naive forms."""

import numpy as np
import pytest

from app.engine import measure, start
from app.engine.kernels import Gaussian
from app.engine.settings import EngineSettings
from benchmarks.paper.running import settings_of
from benchmarks.paper.theory import RULES, exact_leverage, moments, of_known_norm, spectrum
from tests.benchmarks.paper.small import cell, objective


def test_repeated_measurements_are_weights_of_the_spectrum() -> None:
    X, picks = objective().problem.X, np.array([3, 3, 8, 3, 9])
    state = measure(start(X, EngineSettings(Gaussian(1.0), lam=0.1)), picks, np.zeros(5), expected=False)
    K = Gaussian(1.0).matrix(X[picks], X[picks])
    naive = np.linalg.eigvalsh(K)[-3:]
    np.testing.assert_allclose(np.sort(spectrum(state)), naive)
    wanted = np.linalg.solve(K + 0.1 * np.eye(5), Gaussian(1.0).matrix(X[picks], X))
    naive_leverage = (1 - np.einsum("ij,ij->j", Gaussian(1.0).matrix(X[picks], X), wanted)) / 0.1
    np.testing.assert_allclose(exact_leverage(state), naive_leverage, rtol=1e-8)


def test_along_a_run_every_promise_of_the_theory_is_looked_at() -> None:
    found = moments(cell("bbkb"), objective(), *RULES)
    assert found[0]["t"] == 10
    for moment in found:
        small, middle, large = moment["sizes"]
        assert small <= middle <= large
        assert moment["members"] <= moment["dictionary_bound"]
        assert 1 / 3 <= moment["lowest"] <= moment["highest"] <= 3
        assert moment["effective_dimension"] <= min(moment["t"], moment["log_determinant"])


def test_a_function_of_known_norm_is_covered() -> None:
    wanted = cell("bbkb")
    known = of_known_norm(objective().problem, settings_of(wanted, 0.01), 0)
    assert all(moment["covered"] == 1 and moment["error"] < 1 for moment in moments(wanted, known))


def test_its_norm_is_f() -> None:
    """fᵀK⁻¹f over all candidates, with a kernel whose matrix can be inverted."""
    wanted = cell("bbkb")
    settings = settings_of(wanted, 0.01).replace(kernel=Gaussian(0.05))
    problem = objective().problem
    f = of_known_norm(problem, settings, 0).problem.f
    assert f @ np.linalg.solve(settings.kernel.matrix(problem.X, problem.X), f) == pytest.approx(1)
