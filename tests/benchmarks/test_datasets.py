"""Sets become problems, and a missing one says where it comes from."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from benchmarks.datasets import MissingSetError, generated, load


def write(folder: Path, name: str) -> None:
    with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8") as file:
        file.write("colour,size,constant,value\nred,1,7,10\nblue,2,7,30\nred,3,7,20\n")


def test_a_set_has_standardised_features_and_an_objective_from_0_to_1(tmp_path: Path) -> None:
    write(tmp_path, "toy")
    problem = load("toy", tmp_path)
    assert problem.X.shape == (3, 4)
    np.testing.assert_allclose(problem.X.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(problem.X.std(axis=0), [1, 1, 1, 0])
    assert sorted(problem.f) == [0, 0.5, 1]


def test_rows_are_permuted_together_by_the_seed(tmp_path: Path) -> None:
    write(tmp_path, "toy")
    orders = {tuple(load("toy", tmp_path, seed).f) for seed in range(10)}
    assert len(orders) > 1
    for seed in range(10):
        problem = load("toy", tmp_path, seed)
        np.testing.assert_array_equal(np.argsort(problem.X[:, 2]), [list(problem.f).index(v) for v in (0, 1, 0.5)])


def test_the_best_of_a_minimised_set_is_its_lowest(tmp_path: Path) -> None:
    write(tmp_path, "agnp")
    assert load("agnp", tmp_path).X[:, 2][np.argmax(load("agnp", tmp_path).f)] < 0


def test_a_missing_set_says_where_the_public_one_comes_from(tmp_path: Path) -> None:
    with pytest.raises(MissingSetError, match="LIBSVM"):
        load("cadata", tmp_path)


def test_generated_problems_are_the_same_for_the_same_seed() -> None:
    np.testing.assert_array_equal(generated(20, 3, 1).f, generated(20, 3, 1).f)
