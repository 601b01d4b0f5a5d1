"""The map of similarity is the plot of principal components that a dense decomposition gives."""

import numpy as np
import pytest

from app.arrays import Array
from app.modelling import similarity
from app.modelling.similarity import Feature, similarity_map

ROWS = 57


def features() -> list[Feature]:
    dice = np.random.default_rng(5)
    numbers = dice.normal(size=(3, ROWS)) * [[1.0], [40.0], [0.02]] + 7
    numbers[2] += numbers[0] / 30
    numbers[1, 4] = np.nan
    constant = np.full(ROWS, 3.5)
    return [*map(Feature, numbers), Feature(constant), Feature(dice.integers(0, 3, ROWS), 4)]


def dense() -> Array:
    """(A, p) the whole matrix, column by column."""
    columns = []
    for feature in features():
        levels = [feature.cells] if feature.levels is None else [feature.cells == n for n in range(feature.levels)]
        for cells in levels:
            known = cells.astype(float)
            spread = np.nanstd(known)
            if spread > 0:
                columns.append(np.nan_to_num((known - np.nanmean(known)) / spread))
    return np.array(columns).T


@pytest.mark.parametrize("rows_at_once", [8, 10_000])
def test_candidates_lie_where_the_singular_vectors_put_them(monkeypatch: pytest.MonkeyPatch, rows_at_once: int) -> None:
    monkeypatch.setattr(similarity, "ROWS_AT_ONCE", rows_at_once)
    x, y = similarity_map(features(), ROWS)
    left, singular, _ = np.linalg.svd(dense(), full_matrices=False)
    for found, expected in ((x, left[:, 0] * singular[0]), (y, left[:, 1] * singular[1])):
        sign = np.sign(found @ expected)
        np.testing.assert_allclose(found, sign * expected, atol=1e-9)


def test_the_map_is_never_mirrored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of two opposite eigenvectors the decomposition gives, the candidates lie on the same side."""
    before = similarity_map(features(), ROWS)
    decompose = np.linalg.eigh

    def mirrored(matrix: Array) -> object:
        found = decompose(matrix)
        return found._replace(eigenvectors=-found.eigenvectors)

    monkeypatch.setattr(np.linalg, "eigh", mirrored)
    np.testing.assert_array_equal(similarity_map(features(), ROWS), before)


def test_without_differences_all_lie_in_one_point() -> None:
    same = [Feature(np.full(5, 2.0)), Feature(np.full(5, np.nan)), Feature(np.zeros(5, dtype=int), 1)]
    assert similarity_map(same, 5).tolist() == [[0.0] * 5] * 2
    assert similarity_map([], 0).shape == (2, 0)
