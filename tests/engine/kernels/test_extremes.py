"""Features far from the origin, close together, huge, or tiny."""

import numpy as np
import pytest

from app.engine.kernels import Gaussian, Kernel, Linear, Matern, Polynomial, Scaled, Tanimoto, distances
from tests.engine.kernels.naive import naive_matrix

stationary = [Gaussian(0.7), Matern(0.7, 0.5), Matern(0.7, 1.5), Matern((0.5, 2.0, 1.0), 2.5)]
all_kernels: list[Kernel] = [*stationary, Linear(), Polynomial(3), Tanimoto(), Scaled(Gaussian(1.0), 2.0)]


@pytest.fixture(autouse=True, params=["differences", "products"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything here holds for narrow and for wide features."""
    if request.param == "products":
        monkeypatch.setattr(distances, "WIDE", 0)


@pytest.mark.parametrize("kernel", stationary, ids=repr)
def test_equal_rows_are_at_distance_zero_wherever_they_lie(kernel: Kernel) -> None:
    X = np.random.default_rng(0).normal(scale=1e3, size=(50, 3)) + 1e6
    Y = np.vstack((X[[7]], X[::-1]))
    np.testing.assert_array_equal(kernel.matrix(X, Y)[np.arange(50), np.arange(50, 0, -1)], 1.0)
    assert kernel.matrix(X, Y)[7, 0] == 1.0


@pytest.mark.parametrize("kernel", stationary, ids=repr)
def test_close_rows_keep_their_digits_far_from_the_origin(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat([[-1e7], [3e7]], 10, axis=0)
    X = clusters + np.round(rng.normal(size=(20, 3)) * 2**10) / 2**10
    np.testing.assert_allclose(kernel.matrix(X, X), naive_matrix(kernel, X, X), rtol=1e-12)


@pytest.mark.parametrize("kernel", stationary, ids=repr)
def test_nearly_equal_rows_are_told_apart(kernel: Kernel) -> None:
    X = np.vstack((np.zeros(3), [1e-9, 0, 0], [0, 1e-7, 0], [5.0, 5.0, 5.0]))
    np.testing.assert_allclose(1 - kernel.matrix(X, X), 1 - naive_matrix(kernel, X, X), rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-310, 5e-324])
@pytest.mark.parametrize("kernel", all_kernels, ids=repr)
def test_huge_and_subnormal_features_give_finite_values(kernel: Kernel, size: float) -> None:
    X = size * np.array([[1, 1, 1], [1, 1, 1], [-1, 0.5, 0], [0, 0, 0], [1, 0, 0]])
    with np.errstate(all="raise", under="ignore"):
        K = kernel.matrix(X, X)
    assert np.isfinite(K).all()
    assert np.isfinite(kernel.gradient(X, X, np.ones_like(K))).all()
    np.testing.assert_array_equal(np.diagonal(K), kernel.diagonal(X))


@pytest.mark.parametrize("kernel", stationary, ids=repr)
def test_huge_different_features_are_far_apart_and_equal_ones_near(kernel: Kernel) -> None:
    X = np.array([[1e300, 1e300, 0], [1e300, 1e300, 0], [1.1e300, 1e300, 0], [-1e308, 1e308, 3]])
    np.testing.assert_array_equal(kernel.matrix(X, X), [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_a_tiny_lengthscale_divides_without_overflow() -> None:
    X = np.array([[1e200, 0.0], [1e200, 0.0], [0.0, 1e200]])
    np.testing.assert_array_equal(Gaussian(1e-200).matrix(X, X), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
