"""Architectures: how they are laid out, measured and paid for."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from benchmarks.paper.objectives import embedded, objective, training_hours

BITS, OPERATIONS = ("0", "1", "1"), ("conv3x3", "maxpool3x3", "conv3x3")


def write(folder: Path, name: str, rows: list[str]) -> None:
    with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")


def test_each_half_of_an_architecture_has_at_most_unit_norm() -> None:
    X = embedded([BITS, ("0", "0", "1"), OPERATIONS])
    assert X.shape == (3, 4)
    np.testing.assert_allclose(np.linalg.norm(X[:, :2], axis=1), [0, np.sqrt(0.5), 1])
    np.testing.assert_allclose(np.linalg.norm(X[:, 2:], axis=1), 1)


def test_training_costs_a_quarter_of_an_hour_and_its_operations() -> None:
    np.testing.assert_allclose(training_hours([BITS, OPERATIONS]), [0.5, 0.275, 0.5])


def test_a_measurement_is_one_of_the_trainings(tmp_path: Path) -> None:
    rows = [f"{layer},{accuracy}" for layer, of in (("a", (1, 2, 3)), ("b", (7, 8, 12))) for accuracy in of]
    write(tmp_path, "nas_bench_macro_cifar10_replicates", ["layer_1,test_accuracy", *rows])
    measured = objective("nas_bench_macro_cifar10", tmp_path, 0)
    best = int(np.argmax(measured.problem.f))
    values = measured.values(np.full(200, best), np.random.default_rng(0))
    np.testing.assert_allclose(np.unique(values.round(6)), [5 / 7, 6 / 7, 10 / 7], rtol=1e-5)
    assert measured.problem.f[best] == pytest.approx(1)
    assert measured.noise == pytest.approx(np.sqrt((2 / 3 + 14 / 3) / 2) / 7)


def test_other_sets_are_measured_with_gaussian_noise(tmp_path: Path) -> None:
    write(tmp_path, "nas_bench_201_cifar10", ["op,accuracy", "none,1", "nor_conv_3x3,3"])
    measured = objective("nas_bench_201_cifar10", tmp_path, 0)
    values = measured.values(np.zeros(1000, dtype=np.int64), np.random.default_rng(0))
    assert values.std() == pytest.approx(0.01, rel=0.1)
    assert values.mean() == pytest.approx(measured.problem.f[0], abs=0.002)
