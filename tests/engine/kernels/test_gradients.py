"""Gradients in the logarithms of the hyperparameters against central differences."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine.kernels import Gaussian, Kernel, Matern
from tests.engine.kernels.strategies import features, mixed, smooth_kernels


def numeric_gradient(kernel: Kernel, X: FloatArray, Y: FloatArray, W: FloatArray, step: float = 1e-5) -> FloatArray:
    """(Σ W∘K(theta + h) − Σ W∘K(theta − h)) / 2h, one theta at a time."""

    def weighted(theta: FloatArray) -> float:
        return float(np.sum(W * kernel.with_theta(theta).matrix(X, Y)))

    steps = step * np.eye(kernel.theta.size)
    return np.array([(weighted(kernel.theta + h) - weighted(kernel.theta - h)) / (2 * step) for h in steps])


def assert_gradient(kernel: Kernel, X: FloatArray, Y: FloatArray, seed: int) -> None:
    W = np.random.default_rng(seed).normal(size=(len(X), len(Y)))
    scale = np.abs(kernel.matrix(X, Y)).max() * W.size
    np.testing.assert_allclose(
        kernel.gradient(X, Y, W), numeric_gradient(kernel, X, Y, W), rtol=1e-5, atol=1e-7 * max(scale, 1)
    )


@settings(deadline=None)
@given(smooth_kernels(), features(), features(), st.integers(0, 99))
def test_the_gradient_equals_central_differences(kernel: Kernel, X: FloatArray, Y: FloatArray, seed: int) -> None:
    assert_gradient(kernel, X, Y, seed)


@settings(deadline=None)
@given(smooth_kernels(), features())
def test_the_gradient_of_a_set_with_itself_equals_central_differences(kernel: Kernel, X: FloatArray) -> None:
    assert_gradient(kernel, X, X, 0)


def test_only_the_numbers_of_a_mixed_kernel_have_gradients() -> None:
    rng = np.random.default_rng(0)
    X = np.hstack((rng.integers(0, 2, (9, 3)), rng.normal(size=(9, 2))))
    assert mixed.theta.shape == (2,)
    assert_gradient(mixed, X, X[:5], 1)


def test_the_isotropic_gradient_is_the_sum_of_the_gradients_of_equal_lengthscales() -> None:
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(8, 3)), rng.normal(size=(8, 8))
    for isotropic, ard in [(Gaussian(0.7), Gaussian((0.7,) * 3)), (Matern(0.7, 0.5), Matern((0.7,) * 3, 0.5))]:
        np.testing.assert_allclose(isotropic.gradient(X, X, W), ard.gradient(X, X, W).sum(keepdims=True), rtol=1e-12)


@given(smooth_kernels())
def test_theta_and_with_theta_are_inverse(kernel: Kernel) -> None:
    np.testing.assert_allclose(
        kernel.with_theta(kernel.theta + 0.25).theta, kernel.theta + 0.25, rtol=1e-12, atol=1e-12
    )
