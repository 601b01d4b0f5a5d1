"""Kernel values against plain formulas in a double loop."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings

from app.arrays import FloatArray
from app.engine.kernels import Gaussian, Kernel, Matern, Scaled, Sum, Tanimoto, distances
from tests.engine.kernels.naive import naive_matrix
from tests.engine.kernels.strategies import bits, features, mixed, smooth_kernels

stationary = [
    Gaussian(0.7),
    Gaussian((0.5, 2.0, 1.0)),
    Matern(0.7, 0.5),
    Matern(0.7, 1.5),
    Matern((0.5, 2.0, 1.0), 2.5),
]


@given(smooth_kernels(), features(), features())
def test_the_matrix_equals_the_double_loop(kernel: Kernel, X: FloatArray, Y: FloatArray) -> None:
    np.testing.assert_allclose(kernel.matrix(X, Y), naive_matrix(kernel, X, Y), rtol=1e-9, atol=1e-12)


@given(bits(), bits())
def test_tanimoto_is_bits_in_common_over_bits_in_either(X: FloatArray, Y: FloatArray) -> None:
    np.testing.assert_allclose(Tanimoto().matrix(X, Y), naive_matrix(Tanimoto(), X, Y), rtol=1e-15)


def test_bits_and_numbers_multiply_on_their_own_columns() -> None:
    rng = np.random.default_rng(0)
    X = np.hstack((rng.integers(0, 2, (7, 3)), rng.normal(size=(7, 2))))
    np.testing.assert_allclose(mixed.matrix(X, X[:4]), naive_matrix(mixed, X, X[:4]), rtol=1e-12)


@given(smooth_kernels(), features())
def test_the_matrix_of_a_set_with_itself_is_exactly_symmetric_with_the_diagonal(kernel: Kernel, X: FloatArray) -> None:
    K = kernel.matrix(X, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diagonal(K), kernel.diagonal(X))


@given(smooth_kernels(), features())
def test_a_kernel_matrix_is_positive_semidefinite(kernel: Kernel, X: FloatArray) -> None:
    eigenvalues = np.linalg.eigvalsh(kernel.matrix(X, X))
    assert eigenvalues[0] >= -1e-12 * max(eigenvalues[-1], 1)


@given(bits())
def test_tanimoto_is_positive_semidefinite_and_symmetric_with_unit_diagonal(X: FloatArray) -> None:
    K = Tanimoto().matrix(X, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(np.diagonal(K), 1)
    assert np.linalg.eigvalsh(K)[0] >= -1e-12


@pytest.mark.parametrize("wide", [0, 32])
@pytest.mark.parametrize("kernel", stationary, ids=repr)
@pytest.mark.parametrize("shape", [(700, 300), (3, 9000), (9000, 3)])
def test_tiles_join_without_a_seam(
    kernel: Kernel, shape: tuple[int, int], wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(shape[0], 3)), rng.normal(size=(shape[1], 3))
    monkeypatch.setattr(distances, "WIDE", wide)
    whole = kernel.matrix(X, Y)
    monkeypatch.setattr(distances, "TILE", 1000)
    monkeypatch.setattr(distances, "TILE_WIDTH", 70)
    np.testing.assert_allclose(kernel.matrix(X, Y), whole, rtol=1e-9)
    np.testing.assert_array_equal(kernel.matrix(X[:150], X[:150]), kernel.matrix(X[:150], X[:150]).T)


@given(smooth_kernels(), features(), features())
def test_products_of_wide_features_equal_plain_differences(kernel: Kernel, X: FloatArray, Y: FloatArray) -> None:
    plain = kernel.matrix(X, Y)
    with patch.object(distances, "WIDE", 0):
        np.testing.assert_allclose(kernel.matrix(X, Y), plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", stationary, ids=repr)
def test_no_rows_give_an_empty_matrix(kernel: Kernel) -> None:
    X = np.ones((2, 3))
    assert kernel.matrix(X[:0], X).shape == (0, 2)
    assert kernel.matrix(X, X[:0]).shape == (2, 0)


@settings(max_examples=20)
@given(features())
def test_parts_and_arguments_are_left_as_they_were(X: FloatArray) -> None:
    kernel = Sum((Scaled(Gaussian(0.5), 3.0), Matern(0.5, 1.5)))
    before = X.copy()
    kernel.matrix(X, X)
    kernel.diagonal(X)
    kernel.gradient(X, X, np.ones((len(X), len(X))))
    np.testing.assert_array_equal(X, before)
